#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <span>
#include <string>

namespace slipstream {

/// Gives the bytes of the storage of this key, as torch.save numbers them.
using StorageReader = std::function<c10::Storage(const std::string& key)>;

/// What a pickle that torch.save wrote (protocol 2) holds: dicts, OrderedDicts (both are dicts of any to any
/// here), lists, tuples, tensors, strings, numbers and None. Never runs anything; objects of other classes,
/// such as an argparse.Namespace beside the weights, come out as None. LibTorch's own reader turns
/// OrderedDicts into None, and state dicts are OrderedDicts. Throws std::runtime_error or c10::Error if the
/// pickle is damaged or of another protocol.
c10::IValue unpickle(std::span<const char> pickle, const StorageReader& read_storage);

}  // namespace slipstream
