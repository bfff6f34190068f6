#include "data/jpeg.h"

#include <csetjmp>
#include <cstdio>
// libjpeg's header needs <cstdio> before it.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
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

  // Both are false if libjpeg gave up; `reason` says why. Neither holds an object with a destructor across
  // setjmp.

  bool read_header(std::span<const uint8_t> bytes) {
    if (setjmp(trap_.escape) != 0) return false;
    jpeg_mem_src(&info_, bytes.data(), bytes.size());
    jpeg_read_header(&info_, TRUE);
    info_.out_color_space = is_cmyk() ? JCS_CMYK : JCS_RGB;
    info_.dct_method = JDCT_ISLOW;
    jpeg_calc_output_dimensions(&info_);
    return true;
  }

  cv::Size size() const {
    return {static_cast<int>(info_.image_width), static_cast<int>(info_.image_height)};
  }

  /// Call between the two: the image becomes `denominator` times smaller, with chroma as it comes.
  void go_fast(int denominator) {
    info_.scale_num = 1;
    info_.scale_denom = denominator;
    info_.do_fancy_upsampling = FALSE;
    jpeg_calc_output_dimensions(&info_);
  }
  /// What it is decoded at.
  cv::Size scaled_size() const {
    return {static_cast<int>(info_.output_width), static_cast<int>(info_.output_height)};
  }
  bool is_cmyk() const { return info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK; }

  /// Decodes the region's rows, a little wider than asked, to `pixels`; `left` is where the region begins
  /// there. The region is one of the image at the size that it is decoded at.
  bool decode(const cv::Rect& region, cv::Mat& pixels, int& left) {
    if (setjmp(trap_.escape) != 0) return false;
    jpeg_start_decompress(&info_);
    left = 0;
    if (region.width < scaled_size().width) {
      // Interpolated chroma looks one sample beyond the pixels, which is missing at the edge of what is
      // decoded.
      constexpr int kMargin = 8;
      JDIMENSION first = std::max(0, region.x - kMargin);
      JDIMENSION width = std::min(scaled_size().width, region.x + region.width + kMargin) - first;
      jpeg_crop_scanline(&info_, &first, &width);  // widens both to whole blocks
      left = region.x - static_cast<int>(first);
    }
    pixels.create(region.height, static_cast<int>(info_.output_width), is_cmyk() ? CV_8UC4 : CV_8UC3);
    if (region.y > 0) jpeg_skip_scanlines(&info_, region.y);
    for (int y = 0; y < region.height; ++y) {
      JSAMPROW row = pixels.ptr(y);
      jpeg_read_scanlines(&info_, &row, 1);
    }
    if (info_.output_scanline == info_.output_height) jpeg_finish_decompress(&info_);
    return true;
  }

  JpegColour colour() const {
    if (info_.jpeg_color_space == JCS_GRAYSCALE) return JpegColour::kGray;
    if (info_.jpeg_color_space != JCS_YCbCr) return JpegColour::kOther;
    const auto is_full = [&](const jpeg_component_info& component) {
      return component.h_samp_factor == info_.max_h_samp_factor &&
             component.v_samp_factor == info_.max_v_samp_factor;
    };
    return std::all_of(info_.comp_info, info_.comp_info + info_.num_components, is_full)
               ? JpegColour::kFullChroma
               : JpegColour::kSubsampledChroma;
  }

  /// Why a call failed, as a sentence's part.
  std::string reason() const {
    if (trap_.manager.msg_code == JERR_BAD_PRECISION) {
      return "a JPEG of " + std::to_string(info_.data_precision) +
             " bits a sample, of which only 8 are supported: save it with 8";
    }
    return std::string("damaged JPEG: ") + trap_.message;
  }

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

[[noreturn]] void give_up(const Decompressor& decompressor) { throw Error(decompressor.reason()); }

// Decodes at least `region`, which is one of the size that it is decoded at; the result views `memory`.
cv::Mat decode_region(Decompressor& decompressor, std::span<const uint8_t> bytes, const cv::Rect& region,
                      cv::Mat& memory) {
  // Whether a file without its end is whole enough shows only when all of it is decoded.
  const cv::Rect decoded = ends_as_jpeg(bytes) ? region : whole_image(decompressor.scaled_size());
  cv::Mat cmyk;
  int left = 0;
  if (!decompressor.decode(decoded, decompressor.is_cmyk() ? cmyk : memory, left)) give_up(decompressor);
  if (decompressor.is_cmyk()) convert_inverted_cmyk(cmyk, memory);
  return memory(region - decoded.tl() + cv::Point(left, 0));
}

// The smallest that leaves the plan's rectangle as large as what it is resized to, of the scales that
// libjpeg-turbo has vector code for.
int most_shrinking(const CropPlan& plan) {
  int times = 8;
  while (times > 1 &&
         (plan.width < times * plan.resized_width || plan.height < times * plan.resized_height)) {
    times /= 2;
  }
  return times;
}

}  // namespace

bool is_jpeg(std::span<const uint8_t> bytes) {
  return bytes.size() > 2 && bytes[0] == 0xFF && bytes[1] == 0xD8 && bytes[2] == 0xFF;
}

bool ends_as_jpeg(std::span<const uint8_t> bytes) {
  constexpr size_t kPadding = 16;
  const size_t first = bytes.size() > kPadding ? bytes.size() - kPadding : 2;
  for (size_t i = bytes.size() - 1; i > first; --i) {
    if (bytes[i] == 0xD9 && bytes[i - 1] == 0xFF) return true;
  }
  return false;
}

JpegColour jpeg_colour(std::span<const uint8_t> bytes) {
  Decompressor decompressor;
  return decompressor.read_header(bytes) ? decompressor.colour() : JpegColour::kOther;
}

cv::Mat decode_jpeg(std::span<const uint8_t> bytes, const RegionOf& region_of, cv::Mat& memory) {
  Decompressor decompressor;
  if (!decompressor.read_header(bytes)) give_up(decompressor);
  return decode_region(decompressor, bytes, region_of(decompressor.size()), memory);
}

ScaledPart decode_jpeg_fast(std::span<const uint8_t> bytes, const PlanOf& plan_of, cv::Mat& memory) {
  Decompressor decompressor;
  if (!decompressor.read_header(bytes)) give_up(decompressor);
  const CropPlan plan = plan_of(decompressor.size());
  const int times = most_shrinking(plan);
  decompressor.go_fast(times);
  const auto up = [&](int length) { return (length + times - 1) / times; };
  const cv::Rect region(cv::Point(plan.x / times, plan.y / times),
                        cv::Point(up(plan.x + plan.width), up(plan.y + plan.height)));
  const double scale = 1.0 / times;
  return {decode_region(decompressor, bytes, region, memory),
          {plan.x * scale - region.x, plan.y * scale - region.y, plan.width * scale, plan.height * scale}};
}

}  // namespace slipstream
