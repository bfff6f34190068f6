#include "data/jpeg.h"

#include <csetjmp>
#include <cstdio>
// libjpeg's header needs <cstdio> before it.
#include <jerror.h>
#include <jpeglib.h>

#include <string>

#include "data/error.h"

namespace slipstream {
namespace {

// libjpeg reports through C callbacks that must not return; an exception must not cross its C frames.
struct ErrorTrap {
  jpeg_error_mgr manager;  // first: libjpeg hands back a pointer to it
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void escape_with_message(j_common_ptr info) {
  auto* trap = reinterpret_cast<ErrorTrap*>(info->err);
  info->err->format_message(info, trap->message);
  std::longjmp(trap->escape, 1);
}

// Of libjpeg's warnings only the premature end of the data loses pixels; like Pillow, take it as an error.
void on_message(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) {
    escape_with_message(info);
  }
}

class Decompressor {
 public:
  Decompressor() {
    info_.err = jpeg_std_error(&trap_.manager);
    trap_.manager.error_exit = escape_with_message;
    trap_.manager.emit_message = on_message;
    jpeg_create_decompress(&info_);
  }
  ~Decompressor() { jpeg_destroy_decompress(&info_); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  /// False if libjpeg gave up; `reason` says why. Holds no object with a destructor across setjmp.
  bool decode(std::span<const uint8_t> bytes, cv::Mat& pixels) {
    if (setjmp(trap_.escape) != 0) return false;
    jpeg_mem_src(&info_, bytes.data(), bytes.size());
    jpeg_read_header(&info_, TRUE);
    const bool cmyk = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    info_.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    info_.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&info_);
    pixels.create(static_cast<int>(info_.output_height), static_cast<int>(info_.output_width),
                  cmyk ? CV_8UC4 : CV_8UC3);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = pixels.ptr(static_cast<int>(info_.output_scanline));
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  const char* reason() const { return trap_.message; }

 private:
  jpeg_decompress_struct info_{};
  ErrorTrap trap_{};
};

// Pillow's conversion. Adobe stores inverted values: `sample` is 255 - ink.
void convert_inverted_cmyk(const cv::Mat& cmyk, cv::Mat& rgb) {
  rgb.create(cmyk.rows, cmyk.cols, CV_8UC3);
  for (int y = 0; y < cmyk.rows; ++y) {
    const uint8_t* in = cmyk.ptr(y);
    uint8_t* out = rgb.ptr(y);
    for (int x = 0; x < cmyk.cols; ++x, in += 4, out += 3) {
      const int light = in[3];  // 255 - black
      for (int channel = 0; channel < 3; ++channel) {
        const int product = (255 - in[channel]) * light + 128;
        out[channel] = static_cast<uint8_t>(std::max(0, light - (((product >> 8) + product) >> 8)));
      }
    }
  }
}

}  // namespace

bool is_jpeg(std::span<const uint8_t> bytes) {
  return bytes.size() > 2 && bytes[0] == 0xFF && bytes[1] == 0xD8 && bytes[2] == 0xFF;
}

void decode_jpeg(std::span<const uint8_t> bytes, cv::Mat& rgb) {
  Decompressor decompressor;
  if (!decompressor.decode(bytes, rgb)) throw Error(std::string("damaged JPEG: ") + decompressor.reason());
  if (rgb.channels() == 4) {
    const cv::Mat cmyk = std::move(rgb);
    rgb = cv::Mat();
    convert_inverted_cmyk(cmyk, rgb);
  }
}

}  // namespace slipstream
