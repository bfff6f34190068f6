#include "data/file_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "data/error.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

namespace fs = std::filesystem;
using test::read_text;
using test::TemporaryFolder;
using test::write_text;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string read(const fs::path& path) {
  std::vector<uint8_t> bytes;
  read_file(path.string(), bytes);
  return {bytes.begin(), bytes.end()};
}

size_t count_entries(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(ReadFile, ReadsEveryByte) {
  const TemporaryFolder folder;
  std::string content;
  for (int i = 0; i < 300000; ++i) content.push_back(static_cast<char>(i * 7));
  write_text(folder.path() / "file", content);
  EXPECT_EQ(read(folder.path() / "file"), content);
  write_text(folder.path() / "empty", "");
  EXPECT_EQ(read(folder.path() / "empty"), "");
}

TEST(ReadFile, ReusesCapacity) {
  const TemporaryFolder folder;
  write_text(folder.path() / "long", std::string(5000, 'a'));
  write_text(folder.path() / "short", "bc");
  std::vector<uint8_t> bytes;
  read_file((folder.path() / "long").string(), bytes);
  ASSERT_EQ(bytes.size(), 5000U);
  const uint8_t* memory = bytes.data();
  read_file((folder.path() / "short").string(), bytes);
  ASSERT_EQ(bytes.size(), 2U);
  EXPECT_EQ(bytes[0], 'b');
  EXPECT_EQ(bytes.data(), memory);
}

TEST(ReadFile, ReadsWhatHasNoSizeInAdvance) {
  EXPECT_EQ(fs::file_size("/proc/self/maps"), 0U);
  EXPECT_THAT(read("/proc/self/maps"), HasSubstr("[stack]"));
}

TEST(ReadFile, NamesWhatItCannotRead) {
  const TemporaryFolder folder;
  const std::string absent = (folder.path() / "absent.jpg").string();
  EXPECT_THAT([&] { read(absent); },
              ThrowsMessage<Error>("Can't read " + absent + ": No such file or directory."));
  EXPECT_THAT([&] { read(folder.path()); },
              ThrowsMessage<Error>(AllOf(HasSubstr(folder.path().string()), HasSubstr("Is a directory"))));
}

TEST(WriteFileAtomically, WritesAndReplacesAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "report.json").string();
  const std::string first(100000, 'x');
  write_file_atomically(path, first);
  EXPECT_EQ(read_text(path), first);
  write_file_atomically(path, std::string_view("second"));
  EXPECT_EQ(read_text(path), "second");
  write_file_atomically(path, {});
  EXPECT_EQ(read_text(path), "");
  EXPECT_EQ(count_entries(folder.path()), 1U);
}

TEST(WriteFileAtomically, GivesThePermissionsThatTheUserAsksFor) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "file").string();
  const mode_t before = ::umask(027);
  write_file_atomically(path, std::string_view("text"));
  ::umask(before);
  EXPECT_EQ(fs::status(path).permissions(), static_cast<fs::perms>(0640));
}

TEST(WriteFileAtomically, AcceptsAPathWithoutAFolder) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file_atomically("plain", std::string_view("text"));
  fs::current_path(before);
  EXPECT_EQ(read_text(folder.path() / "plain"), "text");
}

TEST(WriteFileAtomically, NamesThePathThatItCannotWrite) {
  const TemporaryFolder folder;
  const std::string absent = (folder.path() / "absent" / "file").string();
  EXPECT_THAT([&] { write_file_atomically(absent, {}); },
              ThrowsMessage<Error>("Can't write " + absent + ": No such file or directory."));

  const fs::path taken = folder.path() / "taken";
  fs::create_directory(taken);
  EXPECT_THAT(
      [&] { write_file_atomically(taken.string(), {}); },
      ThrowsMessage<Error>(AllOf(HasSubstr("Can't write " + taken.string()), HasSubstr("directory"))));
  EXPECT_EQ(count_entries(folder.path()), 1U) << "a temporary file was left";
}

TEST(WriteFileAtomically, KeepsTheOldFileWhenTheDiskRefuses) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "checkpoint.pt").string();
  write_file_atomically(path, std::string_view("old"));

  rlimit before = {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {4096, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string message;
  try {
    write_file_atomically(path, std::string(10000, 'n'));
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);

  EXPECT_EQ(message, "Can't write " + path + ": File too large.");
  EXPECT_EQ(read_text(path), "old");
  EXPECT_EQ(count_entries(folder.path()), 1U) << "a temporary file was left";
}

TEST(WriteFileAtomically, ReadersSeeOneWholeVersion) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "file").string();
  const auto write_often = [&](char letter) {
    for (int i = 0; i < 20; ++i) write_file_atomically(path, std::string(20000, letter));
  };
  write_often('a');
  std::thread first(write_often, 'a');
  std::thread second(write_often, 'b');
  for (int i = 0; i < 500; ++i) {
    const std::string seen = read(path);
    ASSERT_EQ(seen.size(), 20000U);
    ASSERT_EQ(seen, std::string(20000, seen[0]));
  }
  first.join();
  second.join();
  EXPECT_EQ(count_entries(folder.path()), 1U);
}

}  // namespace
}  // namespace slipstream
