#include "data/image_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "data/error.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class ImageFolderTest : public testing::Test {
 protected:
  std::string root() const { return folder_.path().string(); }
  std::string at(const std::string& path) const { return (folder_.path() / path).string(); }
  void add(const std::string& path) const { test::write_text(folder_.path() / path, "x"); }
  void add_folder(const std::string& path) const { fs::create_directories(folder_.path() / path); }
  void link(const std::string& target, const std::string& path) const {
    fs::create_symlink(target, folder_.path() / path);
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(ImageFolderTest, ClassesAreFoldersSortedByTheirBytes) {
  for (const char* name :
       {"b", "a", "B", "a-1", "a1", "_", "10", "9", "\u00e9", "\u4e2d", ".hidden", "z z"}) {
    add_folder(name);
  }
  add("README.txt");
  EXPECT_THAT(list_classes(root()),
              ElementsAre(".hidden", "10", "9", "B", "_", "a", "a-1", "a1", "b", "z z", "\u00e9", "\u4e2d"));
}

TEST_F(ImageFolderTest, LinksToFoldersAreClasses) {
  add_folder("cat");
  link("cat", "kitten");
  link("nowhere", "broken");
  EXPECT_THAT(list_classes(root()), ElementsAre("cat", "kitten"));
}

TEST_F(ImageFolderTest, AFolderThatIsNamedLikeAnImageIsAClass) {
  add_folder("cat.jpg");
  EXPECT_THAT(list_classes(root()), ElementsAre("cat.jpg"));
}

TEST_F(ImageFolderTest, NamesTheRootThatIsMissingOrAFileOrEmpty) {
  EXPECT_THAT([&] { list_classes(at("absent")); },
              ThrowsMessage<Error>("There is no folder " + at("absent") + "."));
  add("file.txt");
  EXPECT_THAT([&] { list_classes(at("file.txt")); },
              ThrowsMessage<Error>(at("file.txt") + " is a file where a folder belongs."));
  EXPECT_THAT([&] { list_classes(root()); }, ThrowsMessage<Error>(HasSubstr(root() + " holds no class")));
}

TEST_F(ImageFolderTest, NamesAnImageThatIsInNoClass) {
  add_folder("cat");
  add("stray.JPG");
  EXPECT_THAT([&] { list_classes(root()); },
              ThrowsMessage<Error>(HasSubstr(at("stray.JPG") + " is a file where a folder belongs")));
}

TEST_F(ImageFolderTest, ImagesAreToldByTheirExtensionInAnyCase) {
  for (const char* name :
       {"a.jpg", "b.JPG", "c.jpeg", "d.JPEG", "e.png", "f.PnG", "g.bmp", "h.BMP", "i.webp", "j.WebP", "k.gif",
        "l.txt", "m", "n.jpg.txt", "o.tiff", "jpg", ".jpg", "p.q.jpg"}) {
    add(std::string("c/") + name);
  }
  EXPECT_THAT(list_class_files(root(), "c"),
              ElementsAre("c/.jpg", "c/a.jpg", "c/b.JPG", "c/c.jpeg", "c/d.JPEG", "c/e.png", "c/f.PnG",
                          "c/g.bmp", "c/h.BMP", "c/i.webp", "c/j.WebP", "c/p.q.jpg"));
}

TEST_F(ImageFolderTest, SortsByFolderThenByName) {
  for (const char* path : {"c/z.jpg", "c/10.jpg", "c/9.jpg", "c/B.jpg", "c/a/2.jpg", "c/a/b/1.jpg",
                           "c/a-b/0.jpg", "c/a0/0.jpg", "c/a.jpg", "other/1.jpg"}) {
    add(path);
  }
  EXPECT_THAT(list_class_files(root(), "c"),
              ElementsAre("c/10.jpg", "c/9.jpg", "c/B.jpg", "c/a.jpg", "c/z.jpg", "c/a/2.jpg", "c/a-b/0.jpg",
                          "c/a/b/1.jpg", "c/a0/0.jpg"));
}

TEST_F(ImageFolderTest, FollowsLinksToFilesAndFolders) {
  add("store/real.jpg");
  add("store/deep/inner.png");
  add("store/note.txt");
  add_folder("root/c");
  link("../../store/real.jpg", "root/c/linked.jpg");
  link("../../store/real.jpg", "root/c/no-extension");
  link("../../store/note.txt", "root/c/text.jpg");
  link("../../store", "root/c/first");
  link("../../store", "root/c/second");
  link("../store", "root/whole");
  EXPECT_THAT(list_class_files(at("root"), "c"),
              ElementsAre("c/linked.jpg", "c/text.jpg", "c/first/real.jpg", "c/first/deep/inner.png",
                          "c/second/real.jpg", "c/second/deep/inner.png"));
  EXPECT_THAT(list_class_files(at("root"), "whole"), ElementsAre("whole/real.jpg", "whole/deep/inner.png"));
}

TEST_F(ImageFolderTest, EndsWhereLinksLeadBack) {
  add("c/1.jpg");
  add("c/deep/2.jpg");
  link(".", "c/self");
  link("..", "c/deep/up");
  link("../..", "c/deep/root");
  link("round", "c/round");
  EXPECT_THAT(list_class_files(root(), "c"), ElementsAre("c/1.jpg", "c/deep/2.jpg"));
}

TEST_F(ImageFolderTest, ListsALinkToNothingForItsReaderToName) {
  add("c/1.jpg");
  link("nowhere.jpg", "c/2.jpg");
  EXPECT_THAT(list_class_files(root(), "c"), ElementsAre("c/1.jpg", "c/2.jpg"));
}

TEST_F(ImageFolderTest, LeavesOutWhatIsNoFile) {
  add("c/1.jpg");
  ASSERT_EQ(::mkfifo(at("c/2.jpg").c_str(), 0600), 0);
  add_folder("c/3.jpg");
  EXPECT_THAT(list_class_files(root(), "c"), ElementsAre("c/1.jpg"));
}

TEST_F(ImageFolderTest, NamesAClassWithoutImages) {
  add("hollow/deep/readme.txt");
  EXPECT_THAT([&] { list_class_files(root(), "hollow"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("The class hollow has no image"), HasSubstr(at("hollow")),
                                         HasSubstr(".jpg, .jpeg, .png, .bmp, .webp"))));
}

TEST_F(ImageFolderTest, NamesAClassThatIsMissing) {
  EXPECT_THAT([&] { list_class_files(root(), "gone"); },
              ThrowsMessage<Error>("There is no folder " + at("gone") + "."));
}

/// Without root's right to read everything, while it lives.
class OrdinaryUser {
 public:
  OrdinaryUser() : ordinary_(::geteuid() != 0 || ::seteuid(65534) == 0) {}
  ~OrdinaryUser() {
    if (::getuid() == 0 && ::seteuid(0) != 0) std::abort();
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  bool ordinary() const { return ordinary_; }

 private:
  bool ordinary_;
};

TEST_F(ImageFolderTest, NamesAFolderThatCannotBeRead) {
  add("c/1.jpg");
  add("c/locked/2.jpg");
  add("d/1.jpg");
  fs::permissions(at("c/locked"), fs::perms::none);
  fs::permissions(at("d"), fs::perms::none);
  {
    const OrdinaryUser user;
    ASSERT_TRUE(user.ordinary());
    EXPECT_THAT([&] { list_class_files(root(), "c"); },
                ThrowsMessage<Error>("Can't read the folder " + at("c/locked") + ": Permission denied."));
    EXPECT_THAT([&] { list_class_files(root(), "d"); },
                ThrowsMessage<Error>("Can't read the folder " + at("d") + ": Permission denied."));
    EXPECT_THAT([&] { list_classes(at("d")); },
                ThrowsMessage<Error>(HasSubstr(at("d") + ": Permission denied")));
  }
  fs::permissions(at("c/locked"), fs::perms::owner_all);
  fs::permissions(at("d"), fs::perms::owner_all);
}

}  // namespace
}  // namespace slipstream
