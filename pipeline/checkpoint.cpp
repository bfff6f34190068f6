#include "pipeline/checkpoint.h"

#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>

#include "data/error.h"
#include "data/file_io.h"
#include "models/pickle_file.h"
#include "models/weights.h"

namespace slipstream {
namespace {

// A checkpoint is a flat dict of tensors: "model." and "momentum." before parameters' names, the loss scale,
// and these.
constexpr const char* kModel = "model.";
constexpr const char* kPosition = "position";  // int64 [4]: epoch, step, images, steps
constexpr const char* kTotals = "totals";      // float64 [2]: loss, right
constexpr const char* kIdentity = "identity";  // int64 [4]: classes, samples, batch size, seed
constexpr const char* kArch = "arch";          // uint8: the name's characters

at::Tensor text_tensor(const std::string& text) {
  return at::tensor(at::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t*>(text.data()), text.size()),
                    at::TensorOptions(at::kByte));
}

std::string tensor_text(const at::Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.const_data_ptr<uint8_t>()),
          static_cast<size_t>(tensor.numel())};
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), entries_(load_weights(path)) {}

  const at::Tensor& get(const std::string& name) const {
    const auto found = std::ranges::find(entries_, name, &StateDict::value_type::first);
    if (found == entries_.end()) {
      throw Error(fmt::format(
          "{}: no checkpoint of slipstream, it has no '{}'; start from weights by --weights", path_, name));
    }
    return found->second;
  }

  StateDict with_prefix(const std::string& prefix) const {
    StateDict found;
    for (const auto& [name, tensor] : entries_) {
      if (name.starts_with(prefix)) found.emplace_back(name.substr(prefix.size()), tensor);
    }
    return found;
  }

  const StateDict& entries() const { return entries_; }

 private:
  std::string path_;
  StateDict entries_;
};

template <typename Value>
void expect_equal(const std::string& path, const char* option, const Value& saved, const Value& current) {
  if (saved == current) return;
  throw Error(fmt::format("{}: the checkpoint was made with {} {}, this run has {}; resume with the same",
                          path, option, saved, current));
}

void check_identity(const std::string& path, const Reader& reader, const RunIdentity& identity,
                    bool within_epoch) {
  const auto saved = reader.get(kIdentity).accessor<int64_t, 1>();
  expect_equal(path, "--arch", tensor_text(reader.get(kArch)), identity.arch);
  expect_equal(path, "a number of classes of", saved[0], identity.classes);
  if (!within_epoch) return;
  expect_equal(path, "a number of training images of", saved[1], identity.samples);
  expect_equal(path, "--batch-size", saved[2], identity.batch_size);
  expect_equal(path, "--seed", saved[3], identity.seed);
}

}  // namespace

void save_checkpoint(const std::string& path, const ResNet& model, const TrainStep& step,
                     const RunPosition& position, const RunIdentity& identity) {
  StateDict entries;
  for (const auto& [name, tensor] : model.state_dict()) entries.emplace_back(kModel + name, tensor);
  for (const auto& entry : step.state()) entries.push_back(entry);
  const StepTotals& totals = position.totals;
  entries.emplace_back(kPosition, at::tensor({position.epoch, position.step, totals.images, totals.steps}));
  entries.emplace_back(kTotals, at::tensor({totals.loss, totals.right}, at::kDouble));
  entries.emplace_back(kIdentity,
                       at::tensor({identity.classes, identity.samples, identity.batch_size, identity.seed}));
  entries.emplace_back(kArch, text_tensor(identity.arch));
  write_file_atomically(path, serialise(to_dict(entries)));
}

RunPosition load_checkpoint(const std::string& path, ResNet& model, TrainStep& step,
                            const RunIdentity& identity) {
  const Reader reader(path);
  const auto saved = reader.get(kPosition).accessor<int64_t, 1>();
  const auto totals = reader.get(kTotals).accessor<double, 1>();
  RunPosition position{saved[0], saved[1], {}};
  position.totals.images = saved[2];
  position.totals.steps = saved[3];
  position.totals.loss = totals[0];
  position.totals.right = totals[1];
  check_identity(path, reader, identity, position.step > 0);
  try {
    load_state_dict(model, reader.with_prefix(kModel));
    step.load_state(reader.entries());
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", path, error.what()));
  }
  return position;
}

}  // namespace slipstream
