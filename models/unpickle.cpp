#include "models/unpickle.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <torch/custom_class.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

namespace slipstream {
namespace {

using at::Tensor;
using c10::IValue;

/// A class or function that the pickle names, on its way to being called.
struct Global : torch::CustomClassHolder {
  explicit Global(std::string name_) : name(std::move(name_)) {}
  std::string name;
};

std::string global_name(const IValue& value) {
  if (!value.isCapsule()) return {};
  const auto global = c10::dynamic_intrusive_pointer_cast<Global>(value.toCapsule());
  return global ? global->name : std::string();
}

/// The type of the elements of "torch.FloatStorage" and its siblings.
at::ScalarType storage_type(const std::string& name) {
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble, at::kLong, at::kInt,
                                    at::kShort, at::kChar, at::kByte, at::kBool}) {
    if (name == fmt::format("torch.{}Storage", c10::toString(type))) return type;
  }
  throw std::runtime_error(fmt::format("it has tensors in a {}, which is not supported", name));
}

std::vector<int64_t> integers(const IValue& tuple) {
  std::vector<int64_t> values;
  for (const IValue& value : tuple.toTupleRef().elements()) values.push_back(value.toInt());
  return values;
}

/// (storage, offset, size, stride, ...) as torch._utils._rebuild_tensor_v2 takes them; the library checks
/// that the tensor lies inside its storage, which can't grow.
Tensor rebuild_tensor(const c10::ivalue::TupleElements& arguments) {
  const Tensor& whole = arguments.at(0).toTensor();
  return at::empty({0}, whole.options())
      .set_(whole.storage(), arguments.at(1).toInt(), integers(arguments.at(2)), integers(arguments.at(3)));
}

IValue call(const std::string& function, const IValue& arguments) {
  const auto& elements = arguments.toTupleRef().elements();
  if (function == "collections.OrderedDict") {
    return c10::impl::GenericDict(c10::AnyType::get(), c10::AnyType::get());
  }
  if (function == "torch._utils._rebuild_tensor_v2") return rebuild_tensor(elements);
  const bool wraps_first =
      function == "torch._utils._rebuild_parameter" ||     // a tensor that is trained
      function.starts_with("torch.jit._pickle.build_") ||  // from C++: a list of one type
      function == "torch.jit._pickle.restore_type_tag";    // from C++: a typed dict or list
  return wraps_first ? elements.at(0) : IValue();
}

/// The stack machine that a pickle is a program for.
class Unpickler {
 public:
  Unpickler(std::span<const char> pickle, const StorageReader& read_storage)
      : pickle_(pickle), read_storage_(read_storage) {}

  IValue run() {
    while (step(read<uint8_t>())) {
    }
    return pop();
  }

 private:
  std::span<const char> take(size_t size) {
    if (size > pickle_.size()) throw std::runtime_error("its pickle ends too early");
    const auto taken = pickle_.first(size);
    pickle_ = pickle_.subspan(size);
    return taken;
  }

  template <typename T>
  T read() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::string read_text(size_t size) {
    const auto text = take(size);
    return {text.begin(), text.end()};
  }

  std::string read_line() {
    std::string line;
    for (char c = read<char>(); c != '\n'; c = read<char>()) line += c;
    return line;
  }

  /// Little-endian two's complement of any length up to 8 bytes; longer ones don't fit and become None.
  IValue read_long() {
    const auto bytes = take(read<uint8_t>());
    if (bytes.size() > sizeof(int64_t)) return {};
    const bool negative = !bytes.empty() && bytes.back() < 0;
    int64_t value = negative ? -1 : 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }

  double read_big_endian_double() { return std::bit_cast<double>(__builtin_bswap64(read<uint64_t>())); }

  void push(IValue value) { stack_.push_back(std::move(value)); }

  IValue& top() {
    if (stack_.empty()) throw std::runtime_error("its pickle takes more than it put");
    return stack_.back();
  }

  IValue pop() {
    IValue value = std::move(top());
    stack_.pop_back();
    return value;
  }

  std::vector<IValue> pop_count(size_t count) {
    if (count > stack_.size()) throw std::runtime_error("its pickle takes more than it put");
    std::vector<IValue> values(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return values;
  }

  std::vector<IValue> pop_to_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) {
      throw std::runtime_error("its pickle has a list without a start");
    }
    const size_t mark = marks_.back();
    marks_.pop_back();
    return pop_count(stack_.size() - mark);
  }

  void push_tuple(std::vector<IValue> values) { push(c10::ivalue::Tuple::create(std::move(values))); }

  /// Items for something that isn't a dict, or elements for no list, belong to an object that became None.
  void set_items(const std::vector<IValue>& items) {
    if (!top().isGenericDict()) return;
    auto dict = top().toGenericDict();
    for (size_t i = 0; i + 1 < items.size(); i += 2) dict.insert_or_assign(items[i], items[i + 1]);
  }

  void append(const std::vector<IValue>& elements) {
    if (!top().isList()) return;
    auto list = top().toList();
    for (const IValue& element : elements) list.push_back(element);
  }

  void recall(size_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) throw std::runtime_error("its pickle refers to what it doesn't hold");
    push(found->second);
  }

  /// ("storage", type, key, device, count) becomes a tensor over the whole storage.
  Tensor load_storage(const IValue& id) {
    const auto& elements = id.toTupleRef().elements();
    const at::ScalarType type = storage_type(global_name(elements.at(1)));
    const std::string& key = elements.at(2).toStringRef();
    auto found = storages_.find(key);
    if (found == storages_.end()) found = storages_.emplace(key, read_storage_(key)).first;
    return at::empty({0}, type).set_(found->second);
  }

  void reduce() {
    const IValue arguments = pop();
    const std::string function = global_name(pop());
    push(call(function, arguments));
  }

  /// Executes one instruction; false at the end.
  bool step(uint8_t opcode);

  std::span<const char> pickle_;
  const StorageReader& read_storage_;
  std::vector<IValue> stack_;
  std::vector<size_t> marks_;  ///< sizes that the stack had
  std::unordered_map<size_t, IValue> memo_;
  std::unordered_map<std::string, c10::Storage> storages_;
};

bool Unpickler::step(uint8_t opcode) {
  // clang-format off
  switch (opcode) {
    case 0x80: if (read<uint8_t>() != 2) throw std::runtime_error("its pickle is not of protocol 2"); break;
    case '.': return false;
    case '(': marks_.push_back(stack_.size()); break;
    case '0': pop(); break;

    case 'N': push({}); break;
    case 0x88: push(true); break;
    case 0x89: push(false); break;
    case 'K': push(int64_t{read<uint8_t>()}); break;
    case 'M': push(int64_t{read<uint16_t>()}); break;
    case 'J': push(int64_t{read<int32_t>()}); break;
    case 0x8a: push(read_long()); break;
    case 'G': push(read_big_endian_double()); break;
    case 'X': push(read_text(read<uint32_t>())); break;

    case ')': push_tuple({}); break;
    case 0x85: push_tuple(pop_count(1)); break;
    case 0x86: push_tuple(pop_count(2)); break;
    case 0x87: push_tuple(pop_count(3)); break;
    case 't': push_tuple(pop_to_mark()); break;

    case '}': push(c10::impl::GenericDict(c10::AnyType::get(), c10::AnyType::get())); break;
    case 's': set_items(pop_count(2)); break;
    case 'u': set_items(pop_to_mark()); break;
    case ']': push(c10::impl::GenericList(c10::AnyType::get())); break;
    case 'a': append(pop_count(1)); break;
    case 'e': append(pop_to_mark()); break;

    case 'q': memo_[read<uint8_t>()] = top(); break;
    case 'r': memo_[read<uint32_t>()] = top(); break;
    case 'h': recall(read<uint8_t>()); break;
    case 'j': recall(read<uint32_t>()); break;

    case 'c': {
      std::string name = read_line() + ".";
      name += read_line();
      push(IValue::make_capsule(c10::make_intrusive<Global>(std::move(name))));
    } break;
    case 'R': reduce(); break;
    case 0x81: pop_count(2); push({}); break;  // a new object of some class
    case 'b': pop(); break;                    // attributes of an object, or a state dict's metadata
    case 'Q': push(load_storage(pop())); break;
    default: throw std::runtime_error(fmt::format("its pickle has an instruction {:#x} that torch.save doesn't use", opcode));
  }
  // clang-format on
  return true;
}

}  // namespace

IValue unpickle(std::span<const char> pickle, const StorageReader& read_storage) {
  return Unpickler(pickle, read_storage).run();
}

}  // namespace slipstream
