#include "data/image_folder.h"

#include <dirent.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "data/error.h"

namespace slipstream {
namespace {

constexpr std::string_view kExtensions[] = {".jpg", ".jpeg", ".png", ".bmp", ".webp"};

bool is_image_name(std::string_view name) {
  return std::any_of(std::begin(kExtensions), std::end(kExtensions), [&](std::string_view extension) {
    return name.size() >= extension.size() && ::strncasecmp(name.data() + name.size() - extension.size(),
                                                            extension.data(), extension.size()) == 0;
  });
}

[[noreturn]] void fail_to_open(const std::string& folder, int code) {
  if (code == ENOENT) throw Error(fmt::format("There is no folder {}.", folder));
  if (code == ENOTDIR) throw Error(fmt::format("{} is a file where a folder belongs.", folder));
  throw Error(fmt::format("Can't read the folder {}: {}.", folder, std::generic_category().message(code)));
}

enum class Kind { kFile, kFolder, kOther };

/// What an entry is, its links followed. Most file systems tell with the name: a stat for each of 1.28
/// million files would be most of the time that listing takes. A link to nothing is a file.
Kind kind_of(DIR* folder, const dirent& entry) {
  if (entry.d_type == DT_REG) return Kind::kFile;
  if (entry.d_type == DT_DIR) return Kind::kFolder;
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return Kind::kOther;
  struct stat facts = {};
  if (::fstatat(::dirfd(folder), entry.d_name, &facts, 0) != 0 || S_ISREG(facts.st_mode)) return Kind::kFile;
  return S_ISDIR(facts.st_mode) ? Kind::kFolder : Kind::kOther;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

/// The names in one folder.
struct Listing {
  std::vector<std::string> folders;
  std::vector<std::string> images;
};

Listing list_folder(const std::string& path) {
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(path.c_str()));
  if (!folder) fail_to_open(path, errno);
  Listing listing;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) {
      if (errno != 0) fail_to_open(path, errno);
      return listing;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    const Kind kind = kind_of(folder.get(), *entry);
    if (kind == Kind::kFolder) listing.folders.emplace_back(name);
    if (kind == Kind::kFile && is_image_name(name)) listing.images.emplace_back(name);
  }
}

/// The same for all of the paths that lead to a folder.
using Identity = std::pair<dev_t, ino_t>;

Identity identity_of(const std::string& folder) {
  struct stat facts = {};
  if (::stat(folder.c_str(), &facts) != 0) fail_to_open(folder, errno);
  return {facts.st_dev, facts.st_ino};
}

/// A folder's path, relative to the root, and the images directly in it.
using FolderImages = std::pair<std::string, std::vector<std::string>>;

/// Appends `folder` and what is below it. `parents` are the folders that led here, for links back to them.
void walk(const std::string& root, const std::string& folder, std::vector<Identity>& parents,
          std::vector<FolderImages>& found) {
  const std::string path = root + "/" + folder;
  const Identity identity = identity_of(path);
  if (std::find(parents.begin(), parents.end(), identity) != parents.end()) return;

  Listing listing = list_folder(path);
  std::sort(listing.images.begin(), listing.images.end());
  found.emplace_back(folder, std::move(listing.images));
  parents.push_back(identity);
  for (const std::string& name : listing.folders)
    walk(root, fmt::format("{}/{}", folder, name), parents, found);
  parents.pop_back();
}

}  // namespace

std::vector<std::string> list_classes(const std::string& root) {
  Listing listing = list_folder(root);
  if (!listing.images.empty()) {
    throw Error(fmt::format("{}/{} is a file where a folder belongs: {} holds one folder of images a class.",
                            root, *std::min_element(listing.images.begin(), listing.images.end()), root));
  }
  if (listing.folders.empty()) {
    throw Error(fmt::format("{} holds no class: it should hold one folder of images a class.", root));
  }
  std::sort(listing.folders.begin(), listing.folders.end());
  return std::move(listing.folders);
}

std::vector<std::string> list_class_files(const std::string& root, const std::string& class_name) {
  std::vector<Identity> parents = {identity_of(root)};
  std::vector<FolderImages> found;
  walk(root, class_name, parents, found);
  std::sort(found.begin(), found.end());

  std::vector<std::string> files;
  for (const auto& [folder, images] : found) {
    for (const std::string& image : images) files.push_back(fmt::format("{}/{}", folder, image));
  }
  if (files.empty()) {
    throw Error(fmt::format("The class {} has no image: no file in {}/{} ends in {}, in any case.",
                            class_name, root, class_name, fmt::join(kExtensions, ", ")));
  }
  return files;
}

std::string ImageFolder::path_of(size_t sample) const {
  return (std::filesystem::path(root) / samples[sample].path).string();
}

}  // namespace slipstream
