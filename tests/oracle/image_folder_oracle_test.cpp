#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "data/image_folder.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

namespace fs = std::filesystem;

/// Prints classes, then labels and paths relative to the root, each ended by a zero byte.
constexpr const char* kScript = R"(
import os, sys
from torchvision.datasets import ImageFolder
root = sys.argv[1]
folder = ImageFolder(root)
facts = list(folder.classes)
for path, label in folder.samples:
    facts += [str(label), os.path.relpath(path, root)]
sys.stdout.buffer.write(b"".join(os.fsencode(fact) + b"\0" for fact in facts))
)";

void generate(const fs::path& root) {
  const char* classes[] = {"n02", "n01", "N01",           "10",     "9",          "a b",
                           "a-b", "a",   "\u00e9t\u00e9", "\u732b", "\U0001f600", "it's"};
  const char* files[] = {"z.jpg",       "B.JPEG",     "a.Png",       "10.bmp",        "9.bmp",
                         "\u00fc.webp", "\u72ac.JPG", "'q'.jpeg",    "new\nline.png", "note.txt",
                         ".hidden.jpg", ".jpg",       "noextension", "x.jpg.bak",     "\U0001f600.jpg"};
  const char* folders[] = {"", "sub", "sub/sub", "sub-1", "sub.jpg", "Sub", "s u b", "\u00e9", "empty/er"};
  for (const char* name : classes) {
    for (const char* folder : folders) {
      for (const char* file : files) test::write_text(root / name / folder / file, "x");
    }
    fs::create_directories(root / name / "nothing");
    fs::create_symlink("sub/z.jpg", root / name / "link.jpg");
    fs::create_symlink("absent", root / name / "broken.jpg");
    fs::create_directory_symlink("../n01/sub", root / name / "linked");
  }
  fs::create_directory_symlink("n02/sub", root / "linked-class");
  test::write_text(root / "labels.txt", "x");
}

TEST(ImageFolderOracle, ListsAsTorchvisionDoes) {
  const std::string python = test::oracle_python();
  if (python.empty()) GTEST_SKIP() << "no Python with torchvision; scripts/setup.sh brings it";
  const test::TemporaryFolder folder;
  const fs::path root = folder.path() / "root";
  generate(root);
  test::write_text(folder.path() / "list.py", kScript);
  const auto torchvision =
      test::run_command(fmt::format("{} {} {}", python, (folder.path() / "list.py").string(), root.string()));
  ASSERT_EQ(torchvision.exit_code, 0) << torchvision.errors;

  std::string ours;
  const auto tell = [&](const std::string& fact) { ours += fact + '\0'; };
  const auto classes = list_classes(root.string());
  for (const std::string& name : classes) tell(name);
  int64_t samples = 0;
  for (size_t label = 0; label < classes.size(); ++label) {
    for (const std::string& path : list_class_files(root.string(), classes[label])) {
      tell(std::to_string(label));
      tell(path);
      ++samples;
    }
  }
  EXPECT_EQ(classes.size(), 13U);
  EXPECT_EQ(samples, 12 * (11 * 12 + 2) + 2 * 12);
  EXPECT_EQ(ours, torchvision.output);
}

}  // namespace
}  // namespace slipstream
