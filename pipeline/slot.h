#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "data/batch_decoder.h"
#include "pipeline/batch.h"
#include "pipeline/loader_options.h"

namespace slipstream {

/// A place in the ring: all the memory of one batch, on the host and on the device, used again and again.
///
/// Host memory may be filled anew once `ready` has passed; device memory once `consumed` has. On the CPU the
/// device's tensors are the host's.
struct Slot {
  explicit Slot(const LoaderOptions& options);

  // Filled by workers, each its own positions.
  at::Tensor host_pixels;                   ///< uint8 [N,S,S,3]
  at::Tensor host_flips;                    ///< uint8 [N]
  at::Tensor host_labels;                   ///< int64 [N]
  std::vector<std::vector<uint8_t>> files;  ///< encoded bytes, by position
  std::vector<EncodedImage> encoded;        ///< by position; bytes are empty where the CPU decoded

  // Filled by the stager.
  at::Tensor pixels, flips, labels;  ///< as above, on the device
  at::Tensor images;                 ///< [N,3,S,S]
  Event ready;                       ///< `images` and `labels` are whole
  Event consumed;                    ///< the step that used them is done

  // What batch this is.
  std::shared_ptr<const Pass> pass;
  int64_t batch = 0;     ///< within the pass
  int64_t count = 0;     ///< samples
  int64_t sequence = 0;  ///< counted over all passes
  std::shared_ptr<InputTimes> times;
  Trace* trace = nullptr;  ///< null where the batch isn't to be traced

  // What went wrong; workers and the stager report here.
  std::mutex mutex;
  std::vector<std::pair<int64_t, BadFile>> bad_files;  ///< by position
  std::exception_ptr error;
  int64_t error_position = -1;  ///< of `error`: the first bad file in the batch's order is the one reported

  /// Makes the slot ready to be filled with a batch.
  void begin(std::shared_ptr<const Pass> of_pass, int64_t batch_of_pass, int64_t its_sequence,
             const LoaderOptions& options);

  /// Keeps the error of the lowest position.
  void fail(int64_t position, std::exception_ptr why);
};

}  // namespace slipstream
