#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slipstream {

/// One image of a folder.
struct Sample {
  std::string path;   ///< relative to the folder's root
  int32_t label = 0;  ///< an index into its classes
};

/// A folder of images, one subfolder a class, in the order of torchvision's ImageFolder.
struct ImageFolder {
  std::string root;
  std::vector<std::string> classes;  ///< subfolders' names, sorted
  std::vector<Sample> samples;       ///< sorted by label, then as list_class_files has them

  /// Of a sample's file.
  std::string path_of(size_t sample) const;
};

/// The names of the folders in `root`, sorted by their bytes (of UTF-8: the order of Python's sorted());
/// links to folders count. Throws Error if `root` is missing, is a file, can't be read, holds no folder, or
/// holds an image: an image belongs in a class's folder. Other files there are ignored.
std::vector<std::string> list_classes(const std::string& root);

/// The paths, relative to `root`, of the images at any depth below root/class_name, in torchvision's order:
/// sorted by folder, then by name. An image is a name that ends in .jpg, .jpeg, .png, .bmp or .webp, in any
/// case. Links are followed, except one to a folder that contains it; a link to nothing is listed, for its
/// reader to name. Throws Error naming the class if it has no image, or the folder that can't be read.
/// Synchronous; different classes may be listed from different threads.
std::vector<std::string> list_class_files(const std::string& root, const std::string& class_name);

}  // namespace slipstream
