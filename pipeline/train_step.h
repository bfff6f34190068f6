#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/cross_entropy.h"
#include "models/resnet.h"
#include "pipeline/batch.h"
#include "pipeline/device_graph.h"
#include "pipeline/loss_scale.h"
#include "pipeline/step_parts.h"
#include "pipeline/synthetic_source.h"
#include "pipeline/train_setup.h"

namespace slipstream {

/// Puts LibTorch's autocast on for a scope, on the thread that trains.
class AutocastScope {
 public:
  AutocastScope(c10::Device device, c10::ScalarType type);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  c10::DeviceType device_;
  bool enabled_;
};

/// Forward, backward and optimizer of one batch, queued on the current stream; the host waits for nothing.
/// SGD with momentum, as torch.optim.SGD computes it, by one kernel: models/fused_sgd on a GPU, else
/// LibTorch's. With --grad-accum-steps N the optimizer steps after every Nth batch, by the mean of N batches'
/// gradients; the state is one to keep only then.
class TrainStep {
 public:
  /// `model` is on the device and outlives the step.
  TrainStep(ResNet& model, const TrainSetup& setup);

  /// Trains on the batch; returns float32 [3] on the device: the mean loss over labelled samples, how many of
  /// them were right at first guess, and the loss scale used. `parts`, if given, marks where the parts end,
  /// unless the step `is_recorded`.
  at::Tensor run(const Batch& batch, double lr, StepParts* parts = nullptr);

  /// Readies the step for batches of these sizes, as the options ask: with cuDNN's benchmark, has it choose
  /// its algorithms; with --cuda-graph, records the step as a graph, which `run` then replays. Trains on
  /// empty batches for that, but leaves no other trace. Call it before any input is under way: LibTorch gives
  /// memory back after each choice, which waits for the whole device.
  ///
  /// Returns a sentence that says why there is no graph, where one was asked for and can't be: then `run`
  /// queues kernel by kernel, as it does for batches of other sizes.
  std::string prepare(at::IntArrayRef image_sizes);

  /// Seconds that a step takes while no input is being prepared: the mean of those on `batches` in about
  /// `seconds`, on the current stream, after a third as long in which the device comes to the clock that it
  /// can keep up. They train, at a tenth of the learning rate, as a run does that begins: weights that stay
  /// as they were made draw more power. Blocks until they are done; leaves no trace in what is trained.
  double time_alone(SyntheticSource& batches, double seconds);

  /// The least multiple of --grad-accum-steps that isn't less: of so many steps each group's optimizer is
  /// part.
  int64_t whole_groups(int64_t steps) const;

  /// Whether `run` replays the recorded step for such a batch.
  bool is_recorded(const Batch& batch) const;
  bool is_recorded() const { return graph_ != nullptr; }

  /// Of device memory that the recorded step's tensors occupy at most.
  int64_t recorded_bytes() const {
    return (graph_ ? graph_->bytes() : 0) + (update_graph_ ? update_graph_->bytes() : 0);
  }

  /// Momentum buffers by parameter name, and the loss scale's state: what a resumed run needs beside the
  /// weights. The tensors are the step's own.
  StateDict state() const;
  void load_state(const StateDict& state);

 private:
  CrossEntropy forward(const at::Tensor& images, const at::Tensor& labels);
  at::Tensor compute(const at::Tensor& images, const at::Tensor& labels, bool updates, StepParts* parts);
  at::Tensor replay(const Batch& batch, bool updates);
  bool accumulates() const { return !sums_.empty(); }
  void update();
  void update_fused(const std::vector<at::Tensor>& gradients);
  void update_by_libtorch(const std::vector<at::Tensor>& gradients);
  std::vector<at::Tensor> take_gradients();
  std::vector<at::Tensor> in_float32(std::vector<at::Tensor> gradients) const;
  at::Tensor cast(size_t parameter) const;
  std::string record(at::IntArrayRef image_sizes);
  Batch empty_batch(at::IntArrayRef image_sizes) const;
  void without_trace(const std::function<void()>& work);

  ResNet& model_;
  TrainOptions options_;
  c10::Device device_;
  c10::ScalarType type_;
  at::Tensor lr_;  // float32 [], on the device
  LossScale loss_scale_;
  std::vector<std::string> names_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> momenta_;
  std::vector<at::Tensor> sums_;  // of gradients, by parameter, float32; none if every batch updates
  int64_t summed_ = 0;            // batches

  Batch recorded_batch_;                 // what the graph reads; its images in the form of models/stem.h
  std::vector<int64_t> recorded_sizes_;  // of the images, before that
  at::Tensor recorded_metrics_;          // and writes
  std::unique_ptr<DeviceGraph> graph_;
  std::unique_ptr<DeviceGraph> update_graph_;  // if gradients accumulate; else graph_ has it
};

}  // namespace slipstream
