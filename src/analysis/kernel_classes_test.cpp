#include "analysis/kernel_classes.h"

#include <gtest/gtest.h>

#include "model/timeline_builder.h"

namespace pyrometer::analysis {
namespace {

using model::ApiClass;
using model::KernelClass;
using model::MathType;
using model::MatrixUnits;

struct MatrixCase {
  const char* name;
  KernelClass klass;
  MatrixUnits matrix_units;
  MathType math;
};

class MatrixKernels : public testing::TestWithParam<MatrixCase> {};

TEST_P(MatrixKernels, HaveClassUnitsAndMath) {
  const auto traits = classify_kernel(GetParam().name);
  EXPECT_EQ(traits.klass, GetParam().klass);
  EXPECT_EQ(traits.matrix_units, GetParam().matrix_units);
  EXPECT_EQ(traits.math, GetParam().math);
}

constexpr auto kGemm = KernelClass::kGemm;
constexpr auto kConv = KernelClass::kConv;
constexpr auto kAttention = KernelClass::kAttention;
constexpr auto kYes = MatrixUnits::kYes;
constexpr auto kNo = MatrixUnits::kNo;

INSTANTIATE_TEST_SUITE_P(
    Blas, MatrixKernels,
    testing::Values(
        MatrixCase{"volta_sgemm_64x64_nt", kGemm, kNo, MathType::kFp32},
        MatrixCase{"ampere_sgemm_32x32_sliced1x4_tn", kGemm, kNo, MathType::kFp32},
        MatrixCase{"volta_fp16_sgemm_fp16_64x64_nn", kGemm, kNo, MathType::kFp16},
        MatrixCase{"volta_h884gemm_128x64_ldg8_nn", kGemm, kYes, MathType::kFp16},
        MatrixCase{"volta_s884gemm_fp16_128x128_ldg8_f2f_nn", kGemm, kYes, MathType::kFp16},
        MatrixCase{"turing_fp16_s1688gemm_fp16_128x128_ldg8_nn", kGemm, kYes, MathType::kFp16},
        MatrixCase{"ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x6_tn", kGemm,
                   kYes, MathType::kFp16},
        MatrixCase{"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_nt", kGemm, kYes, MathType::kBf16},
        MatrixCase{"volta_dgemm_128x64_nn", kGemm, kNo, MathType::kFp64},
        MatrixCase{"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", kGemm, kYes, MathType::kBf16},
        MatrixCase{"nvjet_hsh_192x192_64x3_1x2_h_bz_coopB_NNN", kGemm, kYes, MathType::kFp16},
        MatrixCase{"nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_TNT", kGemm, kYes,
                   MathType::kFp8},
        MatrixCase{"nvjet_sss_tf32_128x256_TNT", kGemm, kYes, MathType::kTf32},
        MatrixCase{"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_"
                   "ffma_aligna4_alignc4_execute_kernel__5x_cublas",
                   kGemm, kNo, MathType::kFp32},
        MatrixCase{"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize32x32x64_stage3_warpsize2x2x1_"
                   "tensor16x8x8_execute_kernel_cublas",
                   kGemm, kYes, MathType::kTf32},
        MatrixCase{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_"
                   "execute_segment_k_off_kernel__5x_cublas",
                   kGemm, kYes, MathType::kBf16},
        MatrixCase{"void gemmSN_NN_kernel<float, 256, 4, 2, 8, 4, 4, false, "
                   "cublasGemvTensorStridedBatched<float const> >(int)",
                   kGemm, kNo, MathType::kFp32},
        MatrixCase{"void magma_sgemmEx_kernel<float, float, float, true, false, 6>(int, int)",
                   kGemm, kNo, MathType::kFp32},
        MatrixCase{"ampere_gcgemm_64x64_nt", kGemm, kNo, MathType::kFp32},
        MatrixCase{"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>("
                   "cutlass_80_simt_sgemm_128x256_8x4_nt_align1::Params)",
                   kGemm, kNo, MathType::kFp32},
        MatrixCase{"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align1>(x)",
                   kGemm, kYes, MathType::kTf32},
        MatrixCase{"void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1>(x)",
                   kGemm, kYes, MathType::kFp64},
        MatrixCase{"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32>(x)",
                   kGemm, kYes, MathType::kBf16},
        MatrixCase{"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN", kGemm,
                   kYes, MathType::kBf16},
        MatrixCase{"Cijk_Ailk_Bljk_SB_MT128x64x8_SN_1LDSB0_MIAV0", kGemm, kNo, MathType::kFp32},
        MatrixCase{"Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN", kGemm, kYes,
                   MathType::kFp16},
        MatrixCase{"_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", kGemm, kYes,
                   MathType::kBf16},
        MatrixCase{"triton_tem_fused_addmm_3", kGemm, kYes, MathType::kUnknown},
        MatrixCase{"someone_s_gemm_kernel", kGemm, MatrixUnits::kUnknown, MathType::kUnknown}));

INSTANTIATE_TEST_SUITE_P(
    Convolution, MatrixKernels,
    testing::Values(
        MatrixCase{"void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false, "
                   "true, true>(int)",
                   kConv, kNo, MathType::kFp32},
        MatrixCase{"cudnn_volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", kConv, kNo,
                   MathType::kFp32},
        MatrixCase{"void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(cudnn::x)",
                   kConv, kNo, MathType::kFp32},
        MatrixCase{"void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int)",
                   kConv, kNo, MathType::kFp32},
        MatrixCase{"void fft2d_r2c_32x32<float, false, 5u, true>(float2*, float const*)", kConv,
                   kNo, MathType::kFp32},
        MatrixCase{"sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_"
                   "tilesize128x128x16_stage4_warpsize2x2x1_g1_tensor16x8x8_execute_kernel_cudnn",
                   kConv, kYes, MathType::kTf32},
        MatrixCase{"sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize256x64x8_"
                   "stage3_warpsize2x2x1_g1_ffma_aligna4_execute_kernel__5x_cudnn",
                   kConv, kNo, MathType::kFp32},
        MatrixCase{"sm90_xmma_dgrad_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_"
                   "tilesize256x64x64_warpgroupsize1x1x1_g1_strided_execute_kernel__5x_cudnn",
                   kConv, kYes, MathType::kBf16},
        MatrixCase{"void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_"
                   "128x128_32x4_nhwc_align4>(x)",
                   kConv, kYes, MathType::kTf32},
        MatrixCase{"_ZN17cutlass__5x_cudnn6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS_"
                   "10bfloat16_tENS6_4warp11MmaTensorOpINS7_ILi32E",
                   kConv, kYes, MathType::kBf16},
        MatrixCase{"miopenSp3AsmConv_v21_1_3_gfx9_fp32_f2x3_stride1", kConv, kNo, MathType::kFp32},
        MatrixCase{"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8", kConv, kYes,
                   MathType::kBf16},
        MatrixCase{"naive_conv_ab_nonpacked_fwd_nchw_float_double_float", kConv, kNo,
                   MathType::kFp64}));

INSTANTIATE_TEST_SUITE_P(
    Attention, MatrixKernels,
    testing::Values(
        MatrixCase{"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64,"
                   " 128, 128, 4, false, false, cutlass::bfloat16_t> >(x)",
                   kAttention, kYes, MathType::kBf16},
        MatrixCase{"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::x<float>)",
                   kAttention, kYes, MathType::kFp32},
        MatrixCase{"fmha_cutlassF_f32_aligned_64x64_rf_sm75(PyTorchMemEffAttention::x<float>)",
                   kAttention, kNo, MathType::kFp32},
        MatrixCase{"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x128",
                   kAttention, kYes, MathType::kHalf},
        MatrixCase{"void vllm::paged_attention_v1_kernel<__half, 128>(x)", kAttention,
                   MatrixUnits::kUnknown, MathType::kFp16}));

struct ClassCase {
  const char* name;
  KernelClass klass;
};

class OtherKernels : public testing::TestWithParam<ClassCase> {};

TEST_P(OtherKernels, HaveClassOnly) {
  const auto traits = classify_kernel(GetParam().name);
  EXPECT_EQ(traits.klass, GetParam().klass);
  EXPECT_EQ(traits.matrix_units, MatrixUnits::kUnknown);
  EXPECT_EQ(traits.math, MathType::kUnknown);
}

INSTANTIATE_TEST_SUITE_P(
    Names, OtherKernels,
    testing::Values(
        ClassCase{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                  KernelClass::kComm},
        ClassCase{"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long)",
                  KernelClass::kComm},
        ClassCase{"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)",
                  KernelClass::kComm},
        ClassCase{"void deep_ep::intranode::dispatch<8>(x)", KernelClass::kComm},
        ClassCase{"void at::native::vectorized_elementwise_kernel<4, "
                  "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int)",
                  KernelClass::kElementwise},
        ClassCase{"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
                  "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>>(x)",
                  KernelClass::kCopyKernel},
        ClassCase{"void at::native::vectorized_elementwise_kernel<4, "
                  "at::native::FillFunctor<float>, at::detail::Array<char*, 1> >(int)",
                  KernelClass::kCopyKernel},
        ClassCase{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(x)",
                  KernelClass::kReduction},
        ClassCase{"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<x>(y)",
                  KernelClass::kOptimizer},
        ClassCase{"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float>(x)",
                  KernelClass::kNorm},
        ClassCase{"void (anonymous namespace)::softmax_warp_forward<float, float, float, 10>(x)",
                  KernelClass::kNorm},
        ClassCase{"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512>(x)",
                  KernelClass::kNorm},
        ClassCase{"void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(x)",
                  KernelClass::kLayout},
        ClassCase{"batched_transpose_32x16_half", KernelClass::kLayout},
        ClassCase{"void at::native::(anonymous namespace)::indexSelectLargeIndex<long>(x)",
                  KernelClass::kIndexing},
        ClassCase{"void cub::DeviceRadixSortOnesweepKernel<cub::Policy800>(int*)",
                  KernelClass::kIndexing},
        ClassCase{"void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_"
                  "kernel<float, 4>(x)",
                  KernelClass::kRandom},
        ClassCase{"void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float>(x)",
                  KernelClass::kRandom},
        ClassCase{"void splitKreduce_kernel<32, 16, int, float>(cublasSplitKParams<float>)",
                  KernelClass::kReduction},
        ClassCase{"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float>(x)",
                  KernelClass::kReduction},
        ClassCase{"void dot_kernel<float, 128, 0, cublasDotParams<x> >(y)",
                  KernelClass::kReduction},
        ClassCase{"triton_poi_fused__scaled_dot_product_efficient_attention_3",
                  KernelClass::kElementwise},
        ClassCase{"triton_red_fused_add_mean_mul_pow_rsqrt_0", KernelClass::kReduction},
        ClassCase{"triton_per_fused_native_layer_norm_5", KernelClass::kNorm},
        ClassCase{"a_name_nobody_knows", KernelClass::kOther}, ClassCase{"", KernelClass::kOther}));

TEST(KernelClasses, CastsAreCopiesThatChangeTheType) {
  EXPECT_TRUE(classify_kernel("void at::native::vectorized_elementwise_kernel<8, "
                              "at::native::bfloat16_copy_kernel_cuda(x)::{lambda(float)#1}>(int)")
                  .cast);
  EXPECT_TRUE(classify_kernel("void at::native::unrolled_elementwise_kernel<"
                              "at::native::direct_copy_kernel_cuda(x), at::native::memory::"
                              "LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int)")
                  .cast);
  EXPECT_FALSE(classify_kernel("void at::native::unrolled_elementwise_kernel<"
                               "at::native::direct_copy_kernel_cuda(x), at::native::memory::"
                               "LoadWithoutCast, at::native::memory::StoreWithoutCast>(int)")
                   .cast);
}

TEST(KernelClasses, FunctionNameLeavesTypesAndArguments) {
  EXPECT_EQ(function_name("void at::native::reduce_kernel<512>(int)"), "at::native::reduce_kernel");
  EXPECT_EQ(function_name("std::enable_if<!(false), void>::type a::kernel<int>(x)"), "a::kernel");
  EXPECT_EQ(function_name("volta_sgemm_64x64_nt"), "volta_sgemm_64x64_nt");
}

TEST(ApiClasses, NamesSuffixesAndPrefixes) {
  EXPECT_EQ(classify_api_call("cudaLaunchKernel"), ApiClass::kKernelLaunch);
  EXPECT_EQ(classify_api_call("cudaLaunchKernel_ptsz"), ApiClass::kKernelLaunch);
  EXPECT_EQ(classify_api_call("cudaLaunchKernelExC_v11060"), ApiClass::kKernelLaunch);
  EXPECT_EQ(classify_api_call("cuLaunchKernelEx"), ApiClass::kKernelLaunch);
  EXPECT_EQ(classify_api_call("hipExtModuleLaunchKernel"), ApiClass::kKernelLaunch);
  EXPECT_EQ(classify_api_call("cudaGraphLaunch"), ApiClass::kGraphLaunch);
  EXPECT_EQ(classify_api_call("cudaMemcpyAsync"), ApiClass::kCopyAsync);
  EXPECT_EQ(classify_api_call("cuMemcpyHtoDAsync_v2"), ApiClass::kCopyAsync);
  EXPECT_EQ(classify_api_call("cuMemcpyDtoH_v2"), ApiClass::kCopyBlocking);
  EXPECT_EQ(classify_api_call("hipMemcpyWithStream"), ApiClass::kCopyBlocking);
  EXPECT_EQ(classify_api_call("cudaMemsetAsync"), ApiClass::kMemset);
  EXPECT_EQ(classify_api_call("cuMemsetD8Async"), ApiClass::kMemset);
  EXPECT_EQ(classify_api_call("cudaStreamSynchronize_ptsz"), ApiClass::kStreamSync);
  EXPECT_EQ(classify_api_call("cuCtxSynchronize"), ApiClass::kDeviceSync);
  EXPECT_EQ(classify_api_call("hipEventSynchronize"), ApiClass::kEventSync);
  EXPECT_EQ(classify_api_call("cudaMalloc"), ApiClass::kAlloc);
  EXPECT_EQ(classify_api_call("cudaMallocAsync"), ApiClass::kQuery);
  EXPECT_EQ(classify_api_call("cuMemUnmap"), ApiClass::kFree);
  EXPECT_EQ(classify_api_call("cudaHostAlloc"), ApiClass::kHostAlloc);
  EXPECT_EQ(classify_api_call("cudaEventRecordWithFlags"), ApiClass::kEventRecord);
  EXPECT_EQ(classify_api_call("cudaStreamWaitEvent"), ApiClass::kStreamWaitEvent);
  EXPECT_EQ(classify_api_call("cuModuleLoadDataEx"), ApiClass::kModuleLoad);
  EXPECT_EQ(classify_api_call("cudaStreamGetCaptureInfo_v2"), ApiClass::kQuery);
  EXPECT_EQ(classify_api_call("cudaPeekAtLastError"), ApiClass::kQuery);
  EXPECT_EQ(classify_api_call("INVALID"), ApiClass::kOther);
  EXPECT_EQ(classify_api_call(""), ApiClass::kOther);
}

TEST(ClassesPass, ClassifiesKernelsAndCallsByName) {
  model::TimelineBuilder b;
  auto& names = b.timeline().names;
  const auto kernel = names.intern("volta_sgemm_64x64_nt");
  const auto call = names.intern("cudaLaunchKernel");
  const auto copy = names.intern("Memcpy HtoD (Pageable -> Device)");
  const auto device = b.device(0);
  b.add_activity(model::ActivityKind::kKernel, 10, 20, kernel, device, 7, 1);
  b.add_activity(model::ActivityKind::kCopy, 20, 30, copy, device, 7, 2, model::CopyKind::kH2D);
  b.add_api_call(0, 5, call, b.thread(1, "1"), 1);
  const auto timeline = b.finish();
  model::RankAnalysis analysis;
  classify_names(timeline, analysis);
  ASSERT_EQ(analysis.kernel_traits.size(), timeline.names.size());
  ASSERT_EQ(analysis.api_class.size(), timeline.names.size());
  EXPECT_EQ(analysis.kernel_traits[kernel].klass, KernelClass::kGemm);
  EXPECT_EQ(analysis.kernel_traits[copy], model::KernelTraits{});
  EXPECT_EQ(analysis.api_class[call], ApiClass::kKernelLaunch);
  EXPECT_EQ(analysis.api_class[kernel], ApiClass::kOther);
}

TEST(ClassesPass, AnEmptyTimelineHasNothingToClassify) {
  const auto timeline = model::TimelineBuilder().finish();
  model::RankAnalysis analysis;
  classify_names(timeline, analysis);
  EXPECT_EQ(analysis.kernel_traits.size(), timeline.names.size());
}

}  // namespace
}  // namespace pyrometer::analysis
