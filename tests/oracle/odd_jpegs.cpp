#include "tests/oracle/odd_jpegs.h"

#include <cstdio>
// libjpeg's header needs <cstdio> before it.
#include <jpeglib.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

namespace slipstream::test {
namespace {

struct Kind {
  const char* name;
  J_COLOR_SPACE in, stored;
  int components;
  int horizontal, vertical;  // samples of the first (and fourth) component for one of the others
};

constexpr Kind kKinds[] = {{"gray.jpg", JCS_GRAYSCALE, JCS_GRAYSCALE, 1, 1, 1},
                           {"444.jpg", JCS_RGB, JCS_YCbCr, 3, 1, 1},
                           {"422.jpg", JCS_RGB, JCS_YCbCr, 3, 2, 1},
                           {"420.jpg", JCS_RGB, JCS_YCbCr, 3, 2, 2},
                           {"440.jpg", JCS_RGB, JCS_YCbCr, 3, 1, 2},
                           {"411.jpg", JCS_RGB, JCS_YCbCr, 3, 4, 1},
                           {"rgb.jpg", JCS_RGB, JCS_RGB, 3, 1, 1},
                           {"ycck.jpg", JCS_CMYK, JCS_YCCK, 4, 1, 1},
                           {"ycck-420.jpg", JCS_CMYK, JCS_YCCK, 4, 2, 2}};

void write(const std::filesystem::path& path, const Kind& kind, JDIMENSION width, JDIMENSION height) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw std::runtime_error("can't write " + path.string());
  jpeg_compress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);  // ends the process on an error
  jpeg_create_compress(&info);
  jpeg_stdio_dest(&info, file);
  info.image_width = width;
  info.image_height = height;
  info.input_components = kind.components;
  info.in_color_space = kind.in;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, kind.stored);
  jpeg_set_quality(&info, 90, TRUE);
  for (int i = 0; i < kind.components; ++i) {
    const bool full = i == 0 || i == 3;
    info.comp_info[i].h_samp_factor = full ? kind.horizontal : 1;
    info.comp_info[i].v_samp_factor = full ? kind.vertical : 1;
  }
  jpeg_start_compress(&info, TRUE);
  std::mt19937 random(7);
  std::vector<uint8_t> row(static_cast<size_t>(width) * kind.components);
  for (JDIMENSION y = 0; y < height; ++y) {
    for (size_t i = 0; i < row.size(); ++i) {
      const double soft = std::sin(static_cast<double>(i) / 31) * std::cos(y / 9.0);
      row[i] = static_cast<uint8_t>(127 + 90 * soft + static_cast<double>(random() % 30));
    }
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::fclose(file);
}

}  // namespace

void write_odd_jpegs(const std::filesystem::path& folder) {
  for (const Kind& kind : kKinds) write(folder / kind.name, kind, 203, 141);
}

}  // namespace slipstream::test
