#include "pipeline/kernel_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace slipstream {
namespace {

struct Case {
  const char* kernel;
  KernelKind kind;
};

// Names as traces of ResNet-50 have them.
constexpr Case kCases[] = {
    {"sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_warpgroupsize1x1x1_g1_"
     "execute_segment_k_off_kernel__5x_cudnn",
     KernelKind::kConvolution},
    {"sm80_xmma_dgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4_"
     "warpsize2x2x1_g1_tensor16x8x16_kernel_cudnn",
     KernelKind::kConvolution},
    {"sm90_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize64x64x64_"
     "warpgroupsize1x1x1"
     "_g1_execute_segment_k_off_kernel__5x_cudnn",
     KernelKind::kConvolution},
    {"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_f16_s16816wgrad_optimized_f16_128x128_32x4_nhwc_align8>"
     "(cutlass_tensorop_f16_s16816wgrad_optimized_f16_128x128_32x4_nhwc_align8::Params)",
     KernelKind::kConvolution},
    {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_execute_"
     "kernel"
     "__5x_cudnn",
     KernelKind::kConvolution},
    {"ampere_scudnn_128x64_relu_xregs_large_nn_v1", KernelKind::kConvolution},
    {"void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(cudnn::winograd_nonfused::"
     "WinogradDataParams<float, float>)",
     KernelKind::kConvolution},

    {"void cudnn::bn_fw_tr_1C11_kernel_NHWC<__half2, float, 512, true, 1, false>(cudnnTensorStruct, __half2 "
     "const*, cudnnTensorStruct, __half2*)",
     KernelKind::kNorm},
    {"void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float, float, float, float, "
     "cudnnTensorStruct, float const*)",
     KernelKind::kNorm},
    {"void at::native::batch_norm_collect_statistics_channels_last_kernel<at::native::Var, float, float, 4>"
     "(float const*, float*, float*, float volatile*, int*, int, int, float)",
     KernelKind::kNorm},
    {"void slipstream::(anonymous namespace)::norm_statistics<__half, 8>(slipstream::StatisticsJob)",
     KernelKind::kNorm},
    {"void slipstream::(anonymous namespace)::norm_pool_backward<__half, 8>(slipstream::PoolBackwardJob, "
     "int, int)",
     KernelKind::kNorm},

    {"void slipstream::(anonymous namespace)::sgd<__half>(slipstream::SgdJob)", KernelKind::kOptimizer},
    {"void slipstream::(anonymous namespace)::find_inf<__half>(slipstream::SgdJob, float*)",
     KernelKind::kOptimizer},
    {"slipstream::(anonymous namespace)::fill(slipstream::FillJob)", KernelKind::kCopy},
    {"slipstream::(anonymous namespace)::pad(slipstream::StemJob)", KernelKind::kCopy},
    {"slipstream::(anonymous namespace)::pad(slipstream::PadJob)", KernelKind::kCopy},
    {"void slipstream::(anonymous namespace)::stem_conv_forward<__half>(slipstream::StemForwardJob)",
     KernelKind::kConvolution},
    {"void slipstream::(anonymous namespace)::cross_entropy<__half>(slipstream::CrossEntropyInput, "
     "slipstream::CrossEntropyOutput)",
     KernelKind::kOther},

    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::Half>, "
     "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::Half>, std::array<char*, 3ul>)",
     KernelKind::kElementwise},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, float, "
     "at::native::(anonymous namespace)::threshold_kernel_impl<float>(at::TensorIteratorBase&, float, "
     "float)::"
     "{lambda(float, float)#1}>, std::array<char*, 2ul> >(int, at::native::AUnaryFunctor<float, float, "
     "float, "
     "at::native::(anonymous namespace)::threshold_kernel_impl<float>(at::TensorIteratorBase&, float, "
     "float)::"
     "{lambda(float, float)#1}>, std::array<char*, 2ul>)",
     KernelKind::kElementwise},

    {"void at::native::(anonymous namespace)::max_pool_backward_nhwc<float, float>(float const*, long "
     "const*, "
     "int, long, long, long, int, int, int, int, float*)",
     KernelKind::kPooling},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::Half, at::native::MeanOps<c10::Half, "
     "float, float, c10::Half>, unsigned int, c10::Half, 4, 4> >(at::native::ReduceOp<c10::Half, "
     "at::native::MeanOps<c10::Half, float, float, c10::Half>, unsigned int, c10::Half, 4, 4>)",
     KernelKind::kPooling},

    {"nvjet_hsh_128x64_64x6_1x2_h_bz_coopA_NNT", KernelKind::kMatrixProduct},
    {"void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_f16_64x64_64x6_nt_align8>"
     "(cutlass_80_tensorop_s16816gemm_f16_64x64_64x6_nt_align8::Params)",
     KernelKind::kMatrixProduct},
    {"ampere_sgemm_32x32_sliced1x4_tn", KernelKind::kMatrixProduct},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, __half, __half, float, __half, true, false, false>()",
     KernelKind::kMatrixProduct},

    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
     "TensorListMetadata<3>, at::native::(anonymous namespace)::FusedSgdMathFunctor<float, 3>, double, "
     "double, "
     "float*, double, double, bool, bool, bool, float*, float*>()",
     KernelKind::kOptimizer},
    {"at::native::amp_update_scale_cuda_kernel(float*, int*, float const*, double, double, int)",
     KernelKind::kOptimizer},

    {"void at::native::vectorized_elementwise_kernel<4, at::native::float16_copy_kernel_cuda("
     "at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::native::"
     "float16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul>)",
     KernelKind::kCopy},
    {"void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half, float, false, true, "
     "(cudnnKernelDataType_t)0>(cudnn::engines_precompiled::nchw2nhwc_params_t<float>, __half const*, "
     "__half*)",
     KernelKind::kCopy},
    {"memcpy device to device", KernelKind::kCopy},
    {"memset", KernelKind::kCopy},

    {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, at::native::"
     "(anonymous namespace)::SoftMaxForwardEpilogue>(float*, float const*, int)",
     KernelKind::kOther},
    {"slipstream::(anonymous namespace)::normalise_pixels(slipstream::NormaliseJob)", KernelKind::kOther},
    {"a_kernel_that_nobody_knows", KernelKind::kOther},
};

TEST(KernelKinds, AreToldByTheName) {
  for (const Case& example : kCases) {
    EXPECT_STREQ(name_of(kind_of(example.kernel)), name_of(example.kind)) << example.kernel;
  }
}

TEST(KernelKinds, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const KernelKind kind : kKernelKinds) names.insert(name_of(kind));
  EXPECT_EQ(names.size(), kKernelKinds.size());
  EXPECT_TRUE(names.contains("convolution"));
}

TEST(ShortKernelName, KeepsWhatTellsKernelsApart) {
  EXPECT_EQ(
      short_kernel_name("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<"
                        "c10::Half>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::Half>)",
                        80),
      "vectorized_elementwise_kernel<4, CUDAFunctor_add<Half>, array<char*, 3ul> >");
  EXPECT_EQ(
      short_kernel_name("void at::native::(anonymous namespace)::max_pool_backward_nhwc<float, float>(float "
                        "const*, (anonymous namespace)::Sizes)",
                        80),
      "max_pool_backward_nhwc<float, float>");
  EXPECT_EQ(short_kernel_name("memcpy host to device", 80), "memcpy host to device");
}

TEST(ShortKernelName, IsCutToItsLength) {
  const std::string name = short_kernel_name("sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc", 20);
  EXPECT_EQ(name, "sm90_xmma_fprop_i...");
  EXPECT_EQ(short_kernel_name("exactly_twenty_chars", 20), "exactly_twenty_chars");
}

}  // namespace
}  // namespace slipstream
