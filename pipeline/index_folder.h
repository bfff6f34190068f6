#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "data/image_folder.h"

namespace slipstream {

/// Called while a folder is indexed, on the calling thread: classes done, classes, files found so far.
using IndexProgress = std::function<void(int64_t classes_done, int64_t classes, int64_t files)>;

/// How many threads to list a folder with: they mostly wait for the disk.
int indexing_threads();

/// Lists a folder's classes and images with `threads` threads, a class at a time each. The result doesn't
/// depend on their number. Throws Error naming what is wrong, as data/image_folder.h does.
ImageFolder index_folder(const std::string& root, int threads, const IndexProgress& progress);

/// As index_folder, for validation: labels are those of `training`'s classes of the same names. Throws Error
/// naming a class that training lacks.
ImageFolder index_validation_folder(const std::string& root, const ImageFolder& training, int threads,
                                    const IndexProgress& progress);

}  // namespace slipstream
