#include "models/stem_cuda.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "models/stem_kernel.h"

namespace slipstream {

bool form_by_kernel(const at::Tensor& images, const at::Tensor& formed, StemForm form) {
  const auto takes = [](const at::Tensor& tensor) {
    return tensor.is_cuda() && tensor.element_size() == 2 &&
           tensor.is_contiguous(at::MemoryFormat::ChannelsLast) &&
           reinterpret_cast<uintptr_t>(tensor.const_data_ptr()) % 16 == 0;
  };
  const bool even = images.size(2) % 2 == 0 && images.size(3) % 2 == 0;
  if (form == StemForm::kPlain || !even || !takes(images) || !takes(formed)) return false;
  const c10::cuda::CUDAGuard device(images.device());
  const StemJob job{.images = images.const_data_ptr(),
                    .formed = formed.mutable_data_ptr(),
                    .count = images.size(0),
                    .rows = static_cast<int>(images.size(2) / 2),
                    .columns = static_cast<int>(images.size(3) / 2)};
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();
  C10_CUDA_CHECK(form == StemForm::kFolded ? launch_fold(job, stream) : launch_pad(job, stream));
  return true;
}

}  // namespace slipstream
