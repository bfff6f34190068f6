#pragma once

#include <array>
#include <string>
#include <string_view>

namespace slipstream {

/// What a kernel of a training step is for, as its name tells.
enum class KernelKind {
  kConvolution,
  kNorm,           ///< batch norm, with what is fused into it
  kElementwise,    ///< ReLU, additions, fills
  kPooling,        ///< the global average, too
  kMatrixProduct,  ///< of cuBLAS; cuDNN's convolutions aren't among them
  kOptimizer,      ///< all work on lists of tensors: the update, the loss scale, counters
  kCopy,           ///< copies, casts and changes of layout
  kOther,          ///< loss, accuracy, and names that the table doesn't know
};

inline constexpr std::array kKernelKinds = {
    KernelKind::kConvolution,   KernelKind::kNorm,      KernelKind::kElementwise, KernelKind::kPooling,
    KernelKind::kMatrixProduct, KernelKind::kOptimizer, KernelKind::kCopy,        KernelKind::kOther};

/// "convolution", "matrix product": for people and for JSON.
const char* name_of(KernelKind kind);

/// `kernel`: a demangled name, or "memcpy ..." and "memset" for the copy engine's work.
KernelKind kind_of(std::string_view kernel);

/// A kernel's name as a line has room for it: without return type, parameters and common namespaces, at most
/// `most` characters long.
std::string short_kernel_name(std::string_view kernel, size_t most);

}  // namespace slipstream
