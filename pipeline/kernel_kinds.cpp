#include "pipeline/kernel_kinds.h"

#include <algorithm>

namespace slipstream {
namespace {

struct Mark {
  std::string_view part;  // of the kernel's name
  KernelKind kind;
};

// The first that a name contains decides, so what is special stands before what is general. The names are
// those of LibTorch 2.11, cuDNN 9 and cuBLAS 13 on compute capability 8 and 9.
constexpr Mark kMarks[] = {
    {"memcpy", KernelKind::kCopy},
    {"memset", KernelKind::kCopy},

    {"(anonymous namespace)::fill", KernelKind::kCopy},  // pipeline/fill_kernel.cu
    {"(anonymous namespace)::pad", KernelKind::kCopy},   // models/stem_pad.cu

    {"::sgd<", KernelKind::kOptimizer},  // models/sgd_kernel.cu
    {"::find_inf<", KernelKind::kOptimizer},
    {"multi_tensor_apply", KernelKind::kOptimizer},
    {"amp_update_scale", KernelKind::kOptimizer},
    {"non_finite_check", KernelKind::kOptimizer},

    // Input's kernels, whose names would pass for a norm's.
    {"normalise_pixels", KernelKind::kOther},
    {"resize_batch", KernelKind::kOther},

    {"nchwToNhwc", KernelKind::kCopy},
    {"nhwcToNchw", KernelKind::kCopy},
    {"nhwcAddPadding", KernelKind::kCopy},
    {"tensorTransform", KernelKind::kCopy},
    {"convertTensor", KernelKind::kCopy},
    {"copy_kernel", KernelKind::kCopy},  // direct_copy_kernel_cuda, float16_copy_kernel_cuda: casts
    {"CatArrayBatchedCopy", KernelKind::kCopy},

    {"bn_fw", KernelKind::kNorm},
    {"bn_bw", KernelKind::kNorm},
    {"batchnorm", KernelKind::kNorm},
    {"batch_norm", KernelKind::kNorm},
    {"::norm_", KernelKind::kNorm},  // models/norm_*.cu, pooling included
    {"_norm", KernelKind::kNorm},

    {"pool", KernelKind::kPooling},
    {"adaptive_average", KernelKind::kPooling},
    {"MeanOps", KernelKind::kPooling},  // adaptive_avg_pool2d to 1x1 is a mean

    {"fprop", KernelKind::kConvolution},
    {"dgrad", KernelKind::kConvolution},
    {"wgrad", KernelKind::kConvolution},
    {"conv", KernelKind::kConvolution},
    {"winograd", KernelKind::kConvolution},
    {"scudnn", KernelKind::kConvolution},
    {"5x_cudnn", KernelKind::kConvolution},  // also cuDNN's 1x1 convolutions as products
    {"implicit_gemm", KernelKind::kConvolution},
    {"im2col", KernelKind::kConvolution},
    {"fft2d", KernelKind::kConvolution},
    {"flip_filter", KernelKind::kConvolution},
    {"OffsetsKernel", KernelKind::kConvolution},  // computeOffsetsKernel, computeWgradSplitKOffsetsKernel
    {"cudnn", KernelKind::kConvolution},          // its helpers: reductions of split sums, scaling

    {"gemm", KernelKind::kMatrixProduct},
    {"gemv", KernelKind::kMatrixProduct},
    {"nvjet", KernelKind::kMatrixProduct},
    {"splitKreduce", KernelKind::kMatrixProduct},
    {"cublas", KernelKind::kMatrixProduct},

    {"elementwise_kernel", KernelKind::kElementwise},
    {"CUDAFunctor", KernelKind::kElementwise},
};

// Where the parameter list begins; the name's end where there is none.
size_t end_of_name(std::string_view kernel) {
  if (!kernel.ends_with(')')) return kernel.size();
  int depth = 0;
  for (size_t at = kernel.size(); at-- > 0;) {
    if (kernel[at] == ')') ++depth;
    if (kernel[at] == '(' && --depth == 0) return at;
  }
  return kernel.size();
}

void erase_all(std::string& text, std::string_view part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

}  // namespace

const char* name_of(KernelKind kind) {
  switch (kind) {
    case KernelKind::kConvolution:
      return "convolution";
    case KernelKind::kNorm:
      return "norm";
    case KernelKind::kElementwise:
      return "elementwise";
    case KernelKind::kPooling:
      return "pooling";
    case KernelKind::kMatrixProduct:
      return "matrix product";
    case KernelKind::kOptimizer:
      return "optimizer";
    case KernelKind::kCopy:
      return "copies";
    case KernelKind::kOther:
      break;
  }
  return "other";
}

KernelKind kind_of(std::string_view kernel) {
  const auto* const found = std::ranges::find_if(
      kMarks, [&](const Mark& mark) { return kernel.find(mark.part) != std::string_view::npos; });
  return found == std::end(kMarks) ? KernelKind::kOther : found->kind;
}

std::string short_kernel_name(std::string_view kernel, size_t most) {
  std::string name(kernel.substr(0, end_of_name(kernel)));
  if (name.starts_with("void ")) name.erase(0, 5);
  for (const char* part : {"(anonymous namespace)::", "at::native::", "c10::", "at::", "std::"}) {
    erase_all(name, part);
  }
  constexpr std::string_view kCut = "...";
  if (name.size() > most) name = name.substr(0, most - kCut.size()).append(kCut);
  return name;
}

}  // namespace slipstream
