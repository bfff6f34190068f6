#pragma once

#include "pipeline/train_options.h"

namespace slipstream {

/// How a mode runs the pipeline: the same classes with other settings.
struct Schedule {
  bool threads;      ///< readers and a stager beside the training thread; else all work happens in next()
  bool pinned;       ///< page-locked host memory, which copies need to run beside anything
  bool copy_stream;  ///< a stream of its own for the input; else the compute stream
  bool wait_each;    ///< the host waits after each copy and each step, as a textbook loop does
};

constexpr Schedule schedule_of(Mode mode) {
  switch (mode) {
    case Mode::kSerial:
      return {.threads = false, .pinned = false, .copy_stream = false, .wait_each = true};
    case Mode::kPinned:
      return {.threads = true, .pinned = true, .copy_stream = false, .wait_each = false};
    case Mode::kOverlapped:
      return {.threads = true, .pinned = true, .copy_stream = true, .wait_each = false};
  }
  return {};
}

}  // namespace slipstream
