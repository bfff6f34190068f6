#pragma once

#include <deque>
#include <vector>

#include "pipeline/batch.h"
#include "pipeline/loader_options.h"

namespace slipstream {

/// Hands out one random batch's images, made on the device once, again and again: training without any input.
///
/// Labels change from batch to batch, so that no network can learn them: one that has learnt its only batch
/// has next to no gradients, and zeros draw less power. A GPU that is at its power limit would then clock
/// higher, by 2% on an H200, than it can on real data.
class SyntheticSource : public BatchSource {
 public:
  SyntheticSource(const LoaderOptions& options, int64_t classes);

  void enqueue(Pass pass) override;
  std::optional<Batch> next() override;
  void release(const Batch&) override {}

 private:
  at::Tensor images_;
  std::vector<at::Tensor> labels_;    // taken in turn
  std::deque<int64_t> batches_left_;  // of each pass
  int64_t handed_out_ = 0;
};

/// The first batch that a SyntheticSource would hand out.
Batch synthetic_batch(const LoaderOptions& options, int64_t classes);

}  // namespace slipstream
