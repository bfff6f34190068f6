#pragma once

#include <deque>
#include <vector>

#include "pipeline/batch.h"
#include "pipeline/loader_options.h"

namespace slipstream {

/// Hands out one random batch's images, made on the device once, again and again: training without any input.
///
/// Labels change from batch to batch, so that no network can learn them: its gradients stay as large as on
/// real data. What a GPU computes with decides how much power it draws, and so at its power limit how fast it
/// is.
class SyntheticSource : public BatchSource {
 public:
  SyntheticSource(const LoaderOptions& options, int64_t classes);

  void enqueue(Pass pass) override;
  std::optional<Batch> next() override;
  void release(const Batch&) override {}

  /// The next batch, whatever the passes.
  Batch batch();

 private:
  at::Tensor images_;
  std::vector<at::Tensor> labels_;    // taken in turn
  std::deque<int64_t> batches_left_;  // of each pass
  int64_t handed_out_ = 0;
};

}  // namespace slipstream
