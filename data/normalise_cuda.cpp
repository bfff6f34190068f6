#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "data/normalise.h"
#include "data/normalise_kernel.h"
#include "data/pixel_type.h"

namespace slipstream {
void normalise_cuda(c10::Stream stream, const at::Tensor& pixels, const at::Tensor& flips,
                    const at::Tensor& images) {
  const c10::cuda::CUDAGuard device(images.device());
  const NormaliseJob job{pixels.const_data_ptr<uint8_t>(),
                         flips.const_data_ptr<uint8_t>(),
                         images.data_ptr(),
                         pixel_type(images.scalar_type()),
                         static_cast<int>(pixels.size(0)),
                         static_cast<int>(pixels.size(1)),
                         images.stride(0),
                         images.stride(1),
                         images.stride(2),
                         images.stride(3)};
  C10_CUDA_CHECK(launch_normalise(job, c10::cuda::CUDAStream(stream).stream()));
}

}  // namespace slipstream
