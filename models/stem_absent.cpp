#include <c10/util/Exception.h>

#include "models/stem_cuda.h"

namespace slipstream {

using at::Tensor;

bool pad_by_kernel(const Tensor& /*images*/, const Tensor& /*padded*/) { return false; }

bool stem_kernels_take(const Tensor& /*padded*/, const Tensor& /*weight*/) { return false; }

Convolved stem_forward(const Tensor& /*padded*/, const Tensor& /*weight*/) {
  TORCH_CHECK(false, "this build has no CUDA");
}

Tensor stem_weight_gradient(const Tensor& /*padded*/, const Tensor& /*weight*/, const Tensor& /*dy*/) {
  TORCH_CHECK(false, "this build has no CUDA");
}

}  // namespace slipstream
