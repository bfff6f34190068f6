#include <cupti_activity.h>
#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>

#include "data/error.h"
#include "pipeline/kernel_trace.h"

namespace slipstream {
namespace {

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET};
constexpr size_t kBufferBytes = 8 << 20;
constexpr std::align_val_t kBufferAlignment{8};  // CUPTI's ACTIVITY_RECORD_ALIGNMENT

// Throws Error unless the call succeeded.
void check(CUptiResult result) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  throw Error(fmt::format(
      "kernels can't be traced: CUPTI says {}; is another profiler attached, or does the driver keep "
      "tracing to administrators?",
      text == nullptr ? "nothing" : text));
}

std::string demangled(const char* name) {
  int status = 0;
  char* const readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string text = status == 0 ? readable : name;
  std::free(readable);
  return text;
}

const char* memcpy_name(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "memcpy host to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "memcpy device to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "memcpy device to device";
    default:
      return "memcpy";
  }
}

/// What CUPTI's callbacks fill. They take no argument of ours, so there is one for the process; it lives as
/// long, since CUPTI may hand over a buffer while the process ends.
class Records {
 public:
  static Records& instance() {
    static Records& records = *new Records;
    return records;
  }

  std::vector<DeviceActivity> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(activities_, {});
  }

  // On a thread of CUPTI's.
  void add_all(uint8_t* buffer, size_t bytes) {
    const std::lock_guard lock(mutex_);
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS) add(*record);
  }

 private:
  void add(const CUpti_Activity& record) {
    if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel10&>(record);
      activities_.push_back(
          {readable(kernel.name), static_cast<int64_t>(kernel.start), static_cast<int64_t>(kernel.end)});
    } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
      activities_.push_back(
          {memcpy_name(copy.copyKind), static_cast<int64_t>(copy.start), static_cast<int64_t>(copy.end)});
    } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMSET) {
      const auto& fill = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
      activities_.push_back({"memset", static_cast<int64_t>(fill.start), static_cast<int64_t>(fill.end)});
    }
  }

  const std::string& readable(const char* name) {
    const auto [entry, is_new] = readable_.try_emplace(name == nullptr ? "" : name);
    if (is_new) entry->second = demangled(entry->first.c_str());
    return entry->second;
  }

  std::mutex mutex_;
  std::vector<DeviceActivity> activities_;
  std::unordered_map<std::string, std::string> readable_;
};

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* bytes, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(::operator new(kBufferBytes, kBufferAlignment));
  *bytes = kBufferBytes;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  Records::instance().add_all(buffer, valid_bytes);
  ::operator delete(buffer, kBufferAlignment);
}

class CuptiTrace : public KernelTrace {
 public:
  ~CuptiTrace() override {
    for (const CUpti_ActivityKind kind : kKinds) cuptiActivityDisable(kind);
  }

  void start() override {
    check(cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
    for (const CUpti_ActivityKind kind : kKinds) check(cuptiActivityEnable(kind));
    check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    Records::instance().take();
  }

  std::vector<DeviceActivity> stop() override {
    check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    for (const CUpti_ActivityKind kind : kKinds) check(cuptiActivityDisable(kind));
    size_t lost = 0;
    check(cuptiActivityGetNumDroppedRecords(nullptr, 0, &lost));
    if (lost > 0) throw Error(fmt::format("{} kernels were lost in tracing: trace fewer steps", lost));
    return Records::instance().take();
  }
};

}  // namespace

std::unique_ptr<KernelTrace> make_kernel_trace(c10::Device device) {
  return device.is_cuda() ? std::make_unique<CuptiTrace>() : nullptr;
}

}  // namespace slipstream
