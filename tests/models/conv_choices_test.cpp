#include "models/conv_choices.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "models/conv_problem.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;

class ConvChoicesTest : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  std::string path_ = (folder_.path() / "choices.json").string();
  const ConvChoices::Choice first_{"eng1_k2=3", 0.25};
  const ConvChoices::Choice second_{"", 0};
};

TEST_F(ConvChoicesTest, AreThereForTheNextRun) {
  ConvChoices choices(path_);
  EXPECT_EQ(choices.find("forward"), std::nullopt);
  choices.add("forward", first_);
  choices.add("forward with sums", second_);
  const ConvChoices next(path_);
  EXPECT_EQ(next.find("forward"), first_);
  EXPECT_EQ(next.find("forward with sums"), second_);
}

TEST_F(ConvChoicesTest, KeepWhatAnotherProcessAddedMeanwhile) {
  ConvChoices ours(path_);
  ConvChoices theirs(path_);
  ours.add("a", first_);
  theirs.add("b", second_);
  ours.add("c", second_);
  const ConvChoices next(path_);
  EXPECT_EQ(next.find("a"), first_);
  EXPECT_EQ(next.find("b"), second_);
  EXPECT_EQ(next.find("c"), second_);
}

TEST_F(ConvChoicesTest, ReplaceAFileThatIsNone) {
  for (const char* text :
       {"", "{\"forward\": {\"engine\"", "[1]", R"({"forward": {"engine": 5, "ms": "x"}})"}) {
    test::write_text(path_, text);
    ConvChoices choices(path_);
    EXPECT_EQ(choices.find("forward"), std::nullopt) << text;
    choices.add("forward", first_);
    EXPECT_EQ(ConvChoices(path_).find("forward"), first_) << text;
  }
}

TEST_F(ConvChoicesTest, TakeAFolderInTheFilesPlaceForNone) {
  fs::create_directories(path_);
  ConvChoices choices(path_);
  EXPECT_FALSE(choices.find("forward"));
  choices.add("forward", first_);
  EXPECT_EQ(choices.find("forward"), first_);
}

TEST_F(ConvChoicesTest, AreGoneWithoutWhereTheyCannotBeWritten) {
  ConvChoices choices((folder_.path() / "none" / "choices.json").string());
  choices.add("forward", first_);
  EXPECT_EQ(choices.find("forward"), first_);
  EXPECT_FALSE(fs::exists(folder_.path() / "none"));
}

TEST_F(ConvChoicesTest, LieInTheUsersCacheByGpuAndVersion) {
  const char* const set = std::getenv("SLIPSTREAM_CACHE");
  const std::optional<std::string> before = set == nullptr ? std::nullopt : std::optional<std::string>(set);
  setenv("SLIPSTREAM_CACHE", (folder_.path() / "cache").c_str(), 1);
  const std::string path = conv_choices_path("NVIDIA H200", 91900);
  before ? setenv("SLIPSTREAM_CACHE", before->c_str(), 1) : unsetenv("SLIPSTREAM_CACHE");
  EXPECT_EQ(path, (folder_.path() / "cache" / "convolutions-v3-NVIDIA-H200-cudnn-91900.json").string());
  EXPECT_TRUE(fs::is_directory(folder_.path() / "cache"));
}

TEST(ConvProblem, KnowsItsOutputAndItsName) {
  const ConvProblem problem{ConvPass::kForwardWithSums, c10::kHalf, {256, 4, 224, 224}, {64, 4, 7, 7}, 2, 3};
  EXPECT_EQ(problem.y(), (std::array<int64_t, 4>{256, 64, 112, 112}));
  EXPECT_EQ(problem.name(), "forward with sums, fp16, x 256x4x224x224, weight 64x4x7x7, stride 2, padding 3");
  ConvProblem other = problem;
  EXPECT_EQ(other, problem);
  other.pass = ConvPass::kForward;
  EXPECT_NE(other, problem);
}

}  // namespace
}  // namespace slipstream
