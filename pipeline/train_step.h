#pragma once

#include <vector>

#include "models/resnet.h"
#include "pipeline/batch.h"
#include "pipeline/loss_scale.h"
#include "pipeline/step_parts.h"
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
/// SGD with momentum by LibTorch's fused kernel, as torch.optim.SGD computes it.
class TrainStep {
 public:
  /// `model` is on the device and outlives the step.
  TrainStep(ResNet& model, const TrainSetup& setup);

  /// Trains on the batch; returns float32 [3] on the device: the mean loss over labelled samples, how many of
  /// them were right at first guess, and the loss scale used. `parts`, if given, marks where the parts end.
  at::Tensor run(const Batch& batch, double lr, StepParts* parts = nullptr);

  /// Forward and backward of an empty batch of these sizes, leaving no trace but cuDNN's choice of
  /// algorithms. With cuDNN's benchmark on, call it before any input is under way: LibTorch gives memory back
  /// after each choice, which waits for the whole device (BatchSource::pause says what that can do).
  void warm_up(at::IntArrayRef image_sizes);

  /// Momentum buffers by parameter name, and the loss scale's state: what a resumed run needs beside the
  /// weights. The tensors are the step's own.
  StateDict state() const;
  void load_state(const StateDict& state);

 private:
  at::Tensor forward(const at::Tensor& images, const at::Tensor& labels, at::Tensor& logits);

  ResNet& model_;
  TrainOptions options_;
  c10::Device device_;
  c10::ScalarType type_;
  LossScale loss_scale_;
  std::vector<std::string> names_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> momenta_;
};

}  // namespace slipstream
