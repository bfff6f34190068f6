#pragma once

#include <ATen/core/Dict.h>
#include <ATen/core/Tensor.h>

#include <string>

#include "models/resnet.h"

namespace slipstream {

/// Copies `weights` into the model's tensors, which stay where and of the type they are. All or nothing:
/// throws Error, before anything is copied, that names keys that are missing, unknown or of another shape.
/// Batch norms' num_batches_tracked may be missing, as in old files of torchvision; it is then set to 0.
void load_state_dict(ResNet& model, const StateDict& weights);

/// The tensors on the CPU, contiguous, for use in an IValue that is to be saved. One that is so already isn't
/// copied: save before it changes. Waits for the tensors' device.
c10::Dict<std::string, at::Tensor> to_dict(const StateDict& weights);

/// Writes the weights as a plain dict of name to tensor; the file is there whole or not at all.
/// Waits for the model's device. Throws Error that names the file.
void save_weights(const std::string& path, const ResNet& model);

/// Reads a file of save_weights() or of Python's torch.save(model.state_dict(), path); the dict may also lie
/// under "state_dict" or "model" of another. Tensors are on the CPU. Throws Error that names the file.
StateDict load_weights(const std::string& path);

}  // namespace slipstream
