#pragma once

#include <deque>

#include "pipeline/batch.h"
#include "pipeline/loader_options.h"

namespace slipstream {

/// Hands out one random batch, made on the device once, again and again: training without any input.
class SyntheticSource : public BatchSource {
 public:
  SyntheticSource(const LoaderOptions& options, int64_t classes);

  void enqueue(Pass pass) override;
  std::optional<Batch> next() override;
  void release(const Batch&) override {}

 private:
  at::Tensor images_;
  at::Tensor labels_;
  std::deque<int64_t> batches_left_;  // of each pass
  int64_t handed_out_ = 0;
};

/// The batch that a SyntheticSource would hand out.
Batch synthetic_batch(const LoaderOptions& options, int64_t classes);

}  // namespace slipstream
