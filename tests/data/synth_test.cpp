#include "data/synth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <set>
#include <string>
#include <vector>

#include "data/error.h"
#include "data/file_io.h"
#include "data/image_folder.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;
using Bytes = std::vector<uint8_t>;

/// Every file below a folder, by its relative path.
std::map<std::string, Bytes> read_tree(const fs::path& root) {
  std::map<std::string, Bytes> tree;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file())
      read_file(entry.path().string(), tree[entry.path().lexically_relative(root).string()]);
  }
  return tree;
}

enum class Format { kUnknown, kBaseline, kProgressive, kPng };

/// What a file's own header says.
struct Header {
  Format format = Format::kUnknown;
  bool gray = false;
};

Header parse(const Bytes& bytes) {
  const Bytes png = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  if (bytes.size() > 25 && std::equal(png.begin(), png.end(), bytes.begin()))
    return {Format::kPng, bytes[25] == 0};
  if (bytes.size() < 4 || bytes[0] != 0xff || bytes[1] != 0xd8) return {};
  size_t at = 2;
  while (at + 9 < bytes.size() &&
         bytes[at] == 0xff) {  // marker, length, and for SOF: depth, sides, components
    const uint8_t marker = bytes[at + 1];
    if (marker == 0xc0 || marker == 0xc2) {
      return {marker == 0xc0 ? Format::kBaseline : Format::kProgressive, bytes[at + 9] == 1};
    }
    at += 2U + static_cast<size_t>(bytes[at + 2] << 8 | bytes[at + 3]);
  }
  return {};
}

std::map<std::string, Bytes> generate(SynthOptions options) {
  const test::TemporaryFolder folder;
  options.folder = (folder.path() / "synth").string();
  write_synth(options, {});
  return read_tree(options.folder);
}

/// Generated once: 10 classes of 16 and 4 images of 32 to 128 pixels.
const std::map<std::string, Bytes>& examples() {
  static const auto tree =
      generate({.train_per_class = 16, .val_per_class = 4, .seed = 3, .min_size = 32, .max_size = 128});
  return tree;
}

TEST(Synth, WritesAFolderToTrainWith) {
  const test::TemporaryFolder folder;
  const std::string root = (folder.path() / "new" / "synth").string();
  std::vector<int64_t> progress;
  write_synth({.folder = root, .classes = 3, .train_per_class = 4, .val_per_class = 2, .max_size = 80},
              [&](int64_t done, int64_t total) {
                EXPECT_EQ(total, 18);
                progress.push_back(done);
              });
  ASSERT_THAT(progress, SizeIs(18));
  EXPECT_EQ(progress.front(), 1);
  EXPECT_EQ(progress.back(), 18);

  EXPECT_THAT(list_classes(root + "/train"), ElementsAre("checker", "rings", "stripes"));
  EXPECT_THAT(list_classes(root + "/val"), ElementsAre("checker", "rings", "stripes"));
  for (const char* name : {"checker", "rings", "stripes"}) {
    const auto files = list_class_files(root + "/train", name);
    ASSERT_THAT(files, SizeIs(4));
    for (int i = 0; i < 4; ++i) {
      EXPECT_THAT(files[static_cast<size_t>(i)],
                  testing::StartsWith(std::string(name) + "/000" + std::to_string(i) + "."));
    }
    EXPECT_THAT(list_class_files(root + "/val", name), SizeIs(2));
  }
}

TEST(Synth, WritesNoValidationFolderForNoImages) {
  const auto tree = generate({.classes = 2, .train_per_class = 1, .val_per_class = 0, .max_size = 80});
  ASSERT_THAT(tree, SizeIs(2));
  for (const auto& [path, bytes] : tree) EXPECT_THAT(path, testing::StartsWith("train/"));
}

TEST(Synth, IsAFunctionOfTheSeed) {
  const SynthOptions options{
      .classes = 2, .train_per_class = 3, .val_per_class = 1, .seed = 7, .max_size = 80};
  const auto first = generate(options);
  ASSERT_THAT(first, SizeIs(8));
  EXPECT_EQ(generate(options), first);

  SynthOptions other = options;
  other.seed = 8;
  std::set<Bytes> seen;
  for (const auto& [path, bytes] : first) seen.insert(bytes);
  for (const auto& [path, bytes] : generate(other)) EXPECT_TRUE(seen.insert(bytes).second) << path;
  EXPECT_THAT(seen, SizeIs(16));
}

TEST(Synth, AnImageDependsOnNoOther) {
  const auto few = generate({.classes = 2, .train_per_class = 2, .val_per_class = 1, .max_size = 80});
  const auto many = generate({.classes = 3, .train_per_class = 3, .val_per_class = 2, .max_size = 80});
  ASSERT_THAT(few, SizeIs(6));
  for (const auto& [path, bytes] : few) {
    ASSERT_TRUE(many.contains(path)) << path;
    EXPECT_EQ(many.at(path), bytes) << path;
  }
}

TEST(Synth, MixesFormatsAndGray) {
  ASSERT_THAT(examples(), SizeIs(200));
  std::map<Format, int> formats;
  std::map<std::string, int> extensions;
  int gray = 0;
  for (const auto& [path, bytes] : examples()) {
    const Header header = parse(bytes);
    ++formats[header.format];
    const std::string extension = fs::path(path).extension().string();
    ++extensions[extension];
    EXPECT_EQ(header.format == Format::kPng, extension == ".png" || extension == ".PNG") << path;
    if (header.gray) ++gray;
  }
  EXPECT_EQ(formats[Format::kUnknown], 0);
  EXPECT_GT(formats[Format::kBaseline], 120);
  EXPECT_GT(formats[Format::kProgressive], 10);
  EXPECT_GT(formats[Format::kPng], 6);
  EXPECT_GT(gray, 6);
  EXPECT_LT(gray, 50);
  EXPECT_GE(extensions.size(), 5U);
}

TEST(Synth, MixesSizesAndShapes) {
  ASSERT_THAT(examples(), SizeIs(200));
  std::set<std::pair<int, int>> sizes;
  int wide = 0;
  int tall = 0;
  for (const auto& [path, bytes] : examples()) {
    const cv::Mat image = cv::imdecode(bytes, cv::IMREAD_COLOR);
    ASSERT_FALSE(image.empty()) << path;
    ASSERT_GE(std::min(image.rows, image.cols), 32) << path;
    ASSERT_LE(std::max(image.rows, image.cols), 128) << path;
    sizes.emplace(image.rows, image.cols);
    if (image.cols * 2 > image.rows * 3) ++wide;
    if (image.rows * 2 > image.cols * 3) ++tall;
  }
  EXPECT_GT(sizes.size(), 150U);
  EXPECT_GT(wide, 10);
  EXPECT_GT(tall, 10);
}

TEST(Synth, PatternsShowInGray) {
  for (const auto& [path, bytes] : examples()) {
    cv::Scalar mean;
    cv::Scalar deviation;
    cv::meanStdDev(cv::imdecode(bytes, cv::IMREAD_GRAYSCALE), mean, deviation);
    EXPECT_GT(deviation[0], 12) << path;
  }
}

TEST(Synth, DrawsEveryClass) {
  const auto tree =
      generate({.classes = kSynthClasses, .train_per_class = 1, .val_per_class = 0, .max_size = 80});
  ASSERT_THAT(tree, SizeIs(50));
  std::set<Bytes> images;
  for (const auto& [path, bytes] : tree) {
    EXPECT_FALSE(cv::imdecode(bytes, cv::IMREAD_COLOR).empty()) << path;
    images.insert(bytes);
  }
  EXPECT_THAT(images, SizeIs(50));
}

TEST(Synth, RefusesToMixWithWhatIsThere) {
  const test::TemporaryFolder folder;
  const SynthOptions options{.folder = folder.path().string(),
                             .classes = 2,
                             .train_per_class = 1,
                             .val_per_class = 1,
                             .max_size = 80};
  write_synth(options, {});
  const auto before = read_tree(folder.path());
  EXPECT_THAT([&] { write_synth(options, {}); },
              ThrowsMessage<Error>(HasSubstr(folder.path().string() + "/train is there already")));
  EXPECT_EQ(read_tree(folder.path()), before);
}

TEST(Synth, RejectsOptionsOutOfRange) {
  const auto rejects = [](const SynthOptions& options, const char* sentence) {
    EXPECT_THAT([&] { write_synth(options, {}); }, ThrowsMessage<UsageError>(HasSubstr(sentence)));
    EXPECT_FALSE(fs::exists("/nonexistent-slipstream"));
  };
  const std::string folder = "/nonexistent-slipstream";
  rejects({.folder = folder, .classes = 1}, "1 classes can't be drawn: ask for 2 to 50");
  rejects({.folder = folder, .classes = 51}, "51 classes");
  rejects({.folder = folder, .train_per_class = 0}, "0 training");
  rejects({.folder = folder, .val_per_class = -1}, "-1 validation");
  rejects({.folder = folder, .min_size = 15}, "Images of 15 to 320 pixels");
  rejects({.folder = folder, .min_size = 400}, "Images of 400 to 320 pixels");
}

TEST(Synth, NamesTheFolderThatItCannotCreate) {
  const test::TemporaryFolder folder;
  test::write_text(folder.path() / "file", "x");
  const std::string below = (folder.path() / "file" / "synth").string();
  EXPECT_THAT([&] { write_synth({.folder = below}, {}); },
              ThrowsMessage<Error>(HasSubstr("Can't create the folder " + below)));
}

}  // namespace
}  // namespace slipstream
