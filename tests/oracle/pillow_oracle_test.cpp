#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <opencv2/core.hpp>

#include "data/antialias.h"
#include "data/decode.h"
#include "data/file_io.h"
#include "tests/oracle/odd_jpegs.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;

class PillowOracle : public testing::Test {
 protected:
  void SetUp() override {
    if (test::oracle_python().empty()) GTEST_SKIP() << "no Python with Pillow; scripts/setup.sh brings it";
    run("generate " + folder_.path().string());
    test::write_odd_jpegs(folder_.path());
  }

  static void run(const std::string& arguments) {
    const auto script = test::source_folder() / "tests" / "oracle" / "pillow_oracle.py";
    const auto done =
        test::run_command(fmt::format("{} {} {}", test::oracle_python(), script.string(), arguments));
    ASSERT_EQ(done.exit_code, 0) << done.errors;
  }

  /// The generated files and, where they are, a third of the real photographs, copied.
  std::vector<fs::path> files() const {
    if (const fs::path photographs = test::shared_data("imagenet-sample"); !photographs.empty()) {
      size_t seen = 0;
      for (const auto& entry : fs::recursive_directory_iterator(photographs)) {
        if (!entry.is_regular_file() || seen++ % 3 != 0) continue;
        fs::copy_file(entry.path(), folder_.path() / entry.path().filename(),
                      fs::copy_options::skip_existing);
      }
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_.path())) files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
  }

  test::TemporaryFolder folder_;
};

cv::Mat decode(const fs::path& file, Exif exif = Exif::kIgnore) {
  std::vector<uint8_t> bytes;
  read_file(file.string(), bytes);
  cv::Mat memory;
  return decode_image(bytes, exif, whole_image, memory);
}

double difference(const cv::Mat& rgb, const fs::path& expected_bytes) {
  const std::string expected = test::read_text(expected_bytes);
  if (expected.size() != rgb.total() * 3) return 256;
  const cv::Mat pillow(rgb.rows, rgb.cols, CV_8UC3, const_cast<char*>(expected.data()));
  return cv::norm(rgb, pillow, cv::NORM_INF);
}

TEST_F(PillowOracle, DecodesEveryKindOfFileToTheSamePixels) {
  const auto all = files();
  ASSERT_GE(all.size(), 30U);
  std::string names;
  for (const fs::path& file : all) names += file.string() + '\n';
  test::write_text(folder_.path() / "list.txt", names);
  run("convert " + (folder_.path() / "list.txt").string());
  for (const fs::path& file : all) {
    EXPECT_EQ(difference(decode(file), file.string() + ".rgb"), 0) << file.filename();
  }
}

TEST_F(PillowOracle, TurnsByExifAsPillowDoes) {
  std::vector<fs::path> turned;
  std::string names;
  for (const char* extension : {"jpg", "png", "webp"}) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
      turned.push_back(folder_.path() / fmt::format("exif-{}.{}", orientation, extension));
      names += turned.back().string() + '\n';
    }
  }
  test::write_text(folder_.path() / "list.txt", names);
  run("turn " + (folder_.path() / "list.txt").string());
  for (const fs::path& file : turned) {
    const cv::Mat whole = decode(file, Exif::kApply);
    EXPECT_EQ(difference(whole, file.string() + ".rgb"), 0) << file.filename();

    std::vector<uint8_t> bytes;
    read_file(file.string(), bytes);
    cv::Mat memory;
    const cv::Rect region(21, 34, 50, 40);
    const auto region_of = [&](cv::Size size) {
      EXPECT_EQ(size, whole.size());
      return region;
    };
    const cv::Mat part = decode_image(bytes, Exif::kApply, region_of, memory);
    EXPECT_EQ(cv::norm(part, whole(region), cv::NORM_INF), 0) << file.filename();
  }
}

TEST_F(PillowOracle, ResizesCropsToTheSamePixels) {
  struct Case {
    fs::path file, out;
    CropPlan plan;
    int size;
  };
  std::vector<Case> cases;
  std::string lines;
  for (const fs::path& file : files()) {
    const cv::Mat rgb = decode(file);
    Random random(1, Draw::kCrop, 1, cases.size());
    for (const int size : {224, 64}) {
      const int resize = (size * 256 + 112) / 224;
      for (const CropPlan& plan : {random_resized_crop(rgb.cols, rgb.rows, size, random),
                                   random_resized_crop(rgb.cols, rgb.rows, size, random),
                                   centre_crop(rgb.cols, rgb.rows, resize, size, Interpolation::kBilinear),
                                   centre_crop(rgb.cols, rgb.rows, resize, size, Interpolation::kBicubic)}) {
        if (plan.resized_width > 4000 || plan.resized_height > 4000) continue;  // of a line of pixels
        cases.push_back({file, folder_.path() / fmt::format("{}.bytes", cases.size()), plan, size});
        lines += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", file.string(),
                             cases.back().out.string(),
                             plan.interpolation == Interpolation::kBicubic ? "BICUBIC" : "BILINEAR", plan.x,
                             plan.y, plan.width, plan.height, plan.resized_width, plan.resized_height,
                             plan.window_x, plan.window_y, size);
      }
    }
  }
  ASSERT_GE(cases.size(), 150U);
  const auto list = folder_.path() / "cases.txt";
  test::write_text(list, lines);
  run("resize " + list.string());

  AntialiasedResize resize;
  for (const Case& one : cases) {
    cv::Mat memory;
    std::vector<uint8_t> bytes;
    read_file(one.file.string(), bytes);
    const CropPlan& plan = one.plan;
    const auto region_of = [&](cv::Size) { return cv::Rect(plan.x, plan.y, plan.width, plan.height); };
    cv::Mat out(one.size, one.size, CV_8UC3);
    resize(decode_image(bytes, Exif::kIgnore, region_of, memory), plan, one.size, out.data);
    EXPECT_EQ(difference(out, one.out), 0) << one.file.filename() << ' ' << plan.width << 'x' << plan.height
                                           << " to " << plan.resized_width << 'x' << plan.resized_height;
  }
}

}  // namespace
}  // namespace slipstream
