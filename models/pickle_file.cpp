#include "models/pickle_file.h"

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <torch/csrc/jit/serialization/pickler.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "data/error.h"
#include "data/file_io.h"
#include "models/unpickle.h"

namespace slipstream {
namespace {

/// Lets LibTorch read an archive from memory, but not beyond it, whatever a damaged archive says.
class BoundedReader : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit BoundedReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  size_t size() const override { return bytes_.size(); }

  size_t read(uint64_t position, void* buffer, size_t count, const char* /*what*/) const override {
    const size_t start = std::min<uint64_t>(position, bytes_.size());
    const size_t available = std::min(count, bytes_.size() - start);
    std::memcpy(buffer, bytes_.data() + start, available);
    return available;
  }

 private:
  std::span<const uint8_t> bytes_;
};

c10::IValue parse(std::span<const uint8_t> bytes) {
  caffe2::serialize::PyTorchStreamReader archive(std::make_shared<BoundedReader>(bytes));
  const auto [pickle, size] = archive.getRecord("data.pkl");
  return unpickle({static_cast<const char*>(pickle.get()), size}, [&](const std::string& key) {
    auto [data, data_size] = archive.getRecord("data/" + key);
    return c10::Storage(c10::Storage::use_byte_size_t(), data_size, std::move(data), /*allocator=*/nullptr,
                        /*resizable=*/false);
  });
}

/// A LibTorch exception's text is a sentence and then a stack: the first line.
std::string first_line(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string line = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  line.resize(std::min(line.find('\n'), line.size()));
  while (line.ends_with('.') || line.ends_with(' ')) line.pop_back();
  return line;
}

constexpr const char* kExpected =
    "Expected is a file that slipstream wrote, or Python's torch.save(model.state_dict(), path) since "
    "PyTorch "
    "1.6.";

}  // namespace

std::vector<char> serialise(const c10::IValue& value) {
  std::vector<char> pickle;
  // No type tags, which torch::pickle_save adds to each dict: weights_only refuses them.
  torch::jit::Pickler pickler(
      [&](const char* data, size_t size) { pickle.insert(pickle.end(), data, data + size); }, nullptr,
      nullptr, nullptr, nullptr, /*tag_aggregates=*/false);
  pickler.protocol();
  pickler.pushIValue(value);
  pickler.stop();

  std::vector<char> bytes;
  caffe2::serialize::PyTorchStreamWriter archive([&](const void* data, size_t size) {
    const char* const begin = static_cast<const char*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
    return size;
  });
  archive.writeRecord("data.pkl", pickle.data(), pickle.size());
  size_t key = 0;
  for (const at::Tensor& tensor : pickler.tensorData()) {
    TORCH_CHECK(tensor.is_cpu(), "only tensors on the CPU can be serialised");
    archive.writeRecord(fmt::format("data/{}", key++), tensor.storage().data(), tensor.storage().nbytes());
  }
  archive.writeEndOfFile();
  return bytes;
}

c10::IValue load_pickle(const std::string& path) {
  std::vector<uint8_t> bytes;
  try {
    read_file(path, bytes);
  } catch (const Error& error) {
    throw Error(fmt::format("{} {}", error.what(), kExpected));
  }
  try {
    return parse(bytes);
  } catch (const std::exception& error) {
    throw Error(fmt::format("{} can't be read: {}. {}", path, first_line(error), kExpected));
  }
}

}  // namespace slipstream
