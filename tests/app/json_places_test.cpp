#include "app/json_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/refusal.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

using testing::StartsWith;

class JsonPlacesTest : public testing::Test {
 protected:
  PlacedJson read(const std::string& text) {
    test::write_text(path(), text);
    return read_placed_json(path());
  }
  std::string refusal(const std::string& text) {
    return test::refusal([&] { read(text); });
  }
  std::string path() const { return (folder_.path() / "a.json").string(); }

  test::TemporaryFolder folder_;
};

TEST_F(JsonPlacesTest, EveryValueHasItsLine) {
  const PlacedJson file = read(
      "{\n"                               // 1
      "  \"base\": {\"lr\": 1,\n"         // 2
      "    \"tf32\": true\n"              // 3
      "  },\n"                            // 4
      "  \"runs\": [ {\"a\": 12}\n,\n"    // 5, 6
      "    [3,\n4\n,\"}\\n]\", null],\n"  // 7, 8, 9
      "    {}\n"                          // 10
      "  ], \"n\":\n\n  -1.5e3\n}");      // 11, 13
  const std::map<std::string, int64_t> expected = {
      {"base", 2},       {"base.lr", 2},  {"base.tf32", 3},  {"runs", 5},       {"runs[0]", 5},
      {"runs[0].a", 5},  {"runs[1]", 7},  {"runs[1][0]", 7}, {"runs[1][1]", 8}, {"runs[1][2]", 9},
      {"runs[1][3]", 9}, {"runs[2]", 10}, {"n", 11},  // a member's line is its key's
  };
  EXPECT_EQ(file.lines, expected);
  EXPECT_EQ(file.value, Json::parse(test::read_text(path())));
  EXPECT_EQ(file.place("runs[1][2]"), path() + ":9: runs[1][2]");
  EXPECT_EQ(file.place(""), path() + ":1");
}

TEST_F(JsonPlacesTest, NumbersEndTheirOwnLine) {
  const PlacedJson file = read("{\"a\": [1\r\n,\r\n2\r\n,3]}");
  EXPECT_EQ(file.lines.at("a[0]"), 1);
  EXPECT_EQ(file.lines.at("a[1]"), 3);
  EXPECT_EQ(file.lines.at("a[2]"), 4);
}

TEST_F(JsonPlacesTest, AKeyTwiceIsRefusedAtItsSecondPlace) {
  EXPECT_EQ(refusal("{\"grid\": {\n\"lr\": [1],\n\"lr\": [2]}}"),
            path() + ":3: grid.lr stands twice; keep one of them.");
  EXPECT_EQ(refusal("{\"runs\": [{\"lr\": 1}, {\"lr\": 1}]}"), "nothing was refused");
}

TEST_F(JsonPlacesTest, SyntaxErrorsHaveLineAndColumn) {
  EXPECT_THAT(refusal("{\n  \"a\": 3,\n  oops\n}"),
              StartsWith(path() + ": not valid JSON, line 3, column 3"));
  EXPECT_THAT(refusal("{\"a\": [1, 2}"), StartsWith(path() + ": not valid JSON, line 1, column 12"));
  EXPECT_THAT(refusal("{} {}"), StartsWith(path() + ": not valid JSON, line 1, column 4"));
  EXPECT_THAT(refusal(""), StartsWith(path() + ": not valid JSON, line 1, column 1"));
  EXPECT_EQ(refusal("[]"), path() + ": holds array, but must hold one JSON object.");
}

}  // namespace
}  // namespace slipstream
