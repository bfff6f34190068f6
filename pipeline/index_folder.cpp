#include "pipeline/index_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "data/error.h"

namespace slipstream {

int indexing_threads() { return 2 * static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

ImageFolder index_folder(const std::string& root, int threads, const IndexProgress& progress) {
  ImageFolder folder{root, list_classes(root), {}};
  const size_t classes = folder.classes.size();
  std::vector<std::vector<std::string>> files(classes);
  std::vector<std::exception_ptr> errors(classes);

  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::condition_variable changed;
  int64_t done = 0;
  int64_t found = 0;
  const auto work = [&] {
    for (size_t i = next++; i < classes; i = next++) {
      try {
        files[i] = list_class_files(root, folder.classes[i]);
      } catch (...) {
        errors[i] = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      ++done;
      found += static_cast<int64_t>(files[i].size());
      changed.notify_one();
    }
  };
  {
    std::vector<std::jthread> pool;
    const size_t count = std::clamp<size_t>(threads, 1, classes);
    for (size_t i = 0; i < count; ++i) pool.emplace_back(work);
    std::unique_lock lock(mutex);
    while (done < static_cast<int64_t>(classes)) {
      changed.wait_for(lock, std::chrono::milliseconds(200));
      progress(done, static_cast<int64_t>(classes), found);
    }
  }

  folder.samples.reserve(found);
  for (size_t i = 0; i < classes; ++i) {
    if (errors[i]) std::rethrow_exception(errors[i]);
    for (std::string& path : files[i]) folder.samples.push_back({std::move(path), static_cast<int32_t>(i)});
  }
  return folder;
}

ImageFolder index_validation_folder(const std::string& root, const ImageFolder& training, int threads,
                                    const IndexProgress& progress) {
  ImageFolder folder = index_folder(root, threads, progress);
  std::vector<int32_t> label(folder.classes.size());
  for (size_t i = 0; i < label.size(); ++i) {
    const auto found = std::ranges::lower_bound(training.classes, folder.classes[i]);
    if (found == training.classes.end() || *found != folder.classes[i]) {
      throw Error(
          fmt::format("{}/{}: training has no such class in {}; remove the folder or name another with "
                      "--val-dir",
                      root, folder.classes[i], training.root));
    }
    label[i] = static_cast<int32_t>(found - training.classes.begin());
  }
  for (Sample& sample : folder.samples) sample.label = label[sample.label];
  folder.classes = training.classes;
  return folder;
}

}  // namespace slipstream
