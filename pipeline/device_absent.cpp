#include <ATen/ops/empty.h>

#include "data/error.h"
#include "pipeline/device_cuda.h"

namespace slipstream {
namespace {
[[noreturn]] void no_cuda() {
  throw Error("this build has no CUDA: build the preset 'cuda' (./quickstart.sh --cuda)");
}
}  // namespace

int cuda_device_count() { return -1; }
std::unique_ptr<Event::Impl> make_cuda_event(c10::Device) { no_cuda(); }
c10::Stream make_cuda_stream(c10::Device, StreamPriority) { no_cuda(); }
void synchronise_cuda(c10::Stream) { no_cuda(); }
at::Tensor make_pinned_tensor(at::IntArrayRef, at::ScalarType) { no_cuda(); }
int64_t peak_cuda_memory(c10::Device) { no_cuda(); }
void reset_peak_cuda_memory(c10::Device) { no_cuda(); }
int64_t reserved_cuda_memory(c10::Device) { no_cuda(); }

}  // namespace slipstream
