#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace slipstream {

/// The bytes of a file that Python's torch.load(path, weights_only=True) reads: dict, tuple, tensor, string,
/// int, float, bool and None (LibTorch's lists would need classes that weights_only refuses). The tensors are
/// on the CPU. A tensor that shows part of a storage takes the whole storage along; clone it first.
std::vector<char> serialise(const c10::IValue& value);

/// Reads a file of serialise() or of Python's torch.save(), as unpickle() describes; tensors are on the CPU.
/// Throws Error that names the file if it is absent, cut short or not of this form. A wrong bit in a tensor's
/// values goes unnoticed: LibTorch is built without the check of the archive's checksums.
c10::IValue load_pickle(const std::string& path);

}  // namespace slipstream
