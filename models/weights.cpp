#include "models/weights.h"

#include <ATen/core/Dict.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "data/error.h"
#include "data/file_io.h"
#include "models/pickle_file.h"

namespace slipstream {
namespace {

using at::Tensor;

constexpr size_t kKeysShown = 3;

/// "3 missing (a, b, c)"; no text if there is none.
void append_keys(std::vector<std::string>& parts, const char* what, const std::vector<std::string>& keys) {
  if (keys.empty()) return;
  const std::span shown(keys.data(), std::min(keys.size(), kKeysShown));
  parts.push_back(fmt::format("{} {} ({}{})", keys.size(), what, fmt::join(shown, ", "),
                              keys.size() > kKeysShown ? ", ..." : ""));
}

bool is_batch_counter(const std::string& name) { return name.ends_with("num_batches_tracked"); }

/// What keeps a set of weights from fitting a model.
struct Mismatch {
  std::vector<std::string> missing, unknown, reshaped;
  std::optional<std::pair<int64_t, int64_t>> classes;  ///< the weights' and the model's, if they differ
  bool only_classes = true;

  bool empty() const { return missing.empty() && unknown.empty() && reshaped.empty(); }

  void add_reshaped(const std::string& name, const Tensor& theirs, const Tensor& ours) {
    reshaped.push_back(fmt::format("{}: [{}] for [{}]", name, fmt::join(theirs.sizes(), ", "),
                                   fmt::join(ours.sizes(), ", ")));
    const bool is_classifier = name == "fc.weight" || name == "fc.bias";
    const bool same_rest =
        theirs.dim() == ours.dim() && theirs.dim() > 0 && theirs.sizes().slice(1) == ours.sizes().slice(1);
    if (is_classifier && same_rest) {
      classes = {theirs.size(0), ours.size(0)};
    } else {
      only_classes = false;
    }
  }

  std::string sentence() const {
    if (classes && only_classes && missing.empty() && unknown.empty()) {
      return fmt::format(
          "The weights are for {} classes and the model has {}; otherwise they fit. Make the model with {} "
          "classes, or take weights for {}.",
          classes->first, classes->second, classes->first, classes->second);
    }
    std::vector<std::string> parts;
    append_keys(parts, "missing", missing);
    append_keys(parts, "unknown", unknown);
    append_keys(parts, "of another shape", reshaped);
    return fmt::format("The weights don't fit the model; of their tensors, {}. Is the architecture the same?",
                       fmt::join(parts, "; "));
  }
};

std::optional<StateDict> as_state_dict(const c10::IValue& value) {
  if (!value.isGenericDict()) return std::nullopt;
  StateDict state;
  for (const auto& item : value.toGenericDict()) {
    if (!item.key().isString() || !item.value().isTensor()) return std::nullopt;
    state.emplace_back(item.key().toStringRef(), item.value().toTensor());
  }
  if (state.empty()) return std::nullopt;
  return state;
}

}  // namespace

void load_state_dict(ResNet& model, const StateDict& weights) {
  std::unordered_map<std::string_view, Tensor> theirs;
  for (const auto& [name, tensor] : weights) theirs.emplace(name, tensor);

  const StateDict ours = model.state_dict();
  Mismatch mismatch;
  for (const auto& [name, tensor] : ours) {
    const auto found = theirs.find(name);
    if (found == theirs.end()) {
      if (!is_batch_counter(name)) mismatch.missing.push_back(name);
    } else if (found->second.sizes() != tensor.sizes()) {
      mismatch.add_reshaped(name, found->second, tensor);
    }
  }
  std::unordered_map<std::string_view, Tensor> known;
  for (const auto& [name, tensor] : ours) known.emplace(name, tensor);
  for (const auto& [name, tensor] : weights) {
    if (!known.contains(name)) mismatch.unknown.push_back(name);
  }
  if (!mismatch.empty()) throw Error(mismatch.sentence());

  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : ours) {
    const auto found = theirs.find(name);
    found == theirs.end() ? tensor.zero_() : tensor.copy_(found->second);
  }
}

c10::Dict<std::string, Tensor> to_dict(const StateDict& weights) {
  c10::Dict<std::string, Tensor> dict;
  for (const auto& [name, tensor] : weights) {
    Tensor copy = tensor.detach().cpu().contiguous();
    if (copy.storage().nbytes() != copy.nbytes()) copy = copy.clone();  // a file holds whole storages
    dict.insert(name, copy);
  }
  return dict;
}

void save_weights(const std::string& path, const ResNet& model) {
  write_file_atomically(path, serialise(to_dict(model.state_dict())));
}

StateDict load_weights(const std::string& path) {
  const c10::IValue value = load_pickle(path);
  if (auto state = as_state_dict(value)) return *std::move(state);
  if (value.isGenericDict()) {
    const auto outer = value.toGenericDict();
    for (const char* key : {"state_dict", "model"}) {
      const auto found = outer.find(key);
      if (found == outer.end()) continue;
      if (auto state = as_state_dict(found->value())) return *std::move(state);
    }
  }
  throw Error(fmt::format(
      R"({} holds no dict of names and tensors, nor has it one under "state_dict" or "model".)", path));
}

}  // namespace slipstream
