#include "data/jpeg.h"

#include <gtest/gtest.h>

#include "data/file_io.h"
#include "tests/oracle/odd_jpegs.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

TEST(JpegColour, IsTheHeaders) {
  const test::TemporaryFolder folder;
  test::write_odd_jpegs(folder.path());
  std::vector<uint8_t> bytes;
  const auto expect = [&](JpegColour colour, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      read_file((folder.path() / name).string(), bytes);
      EXPECT_EQ(jpeg_colour(bytes), colour) << name;
    }
  };
  expect(JpegColour::kGray, {"gray.jpg"});
  expect(JpegColour::kSubsampledChroma, {"422.jpg", "420.jpg", "440.jpg", "411.jpg"});
  expect(JpegColour::kOther, {"rgb.jpg", "ycck.jpg", "ycck-420.jpg"});
  expect(JpegColour::kFullChroma, {"444.jpg"});
  EXPECT_EQ(jpeg_colour({bytes.data(), 30}), JpegColour::kOther) << "of a header cut off";
  EXPECT_EQ(jpeg_colour({}), JpegColour::kOther);
}

}  // namespace
}  // namespace slipstream
