#include "analysis/comm_names.h"

#include <gtest/gtest.h>

namespace pyrometer::analysis {
namespace {

using model::Collective;

TEST(CommNames, ProfilerArguments) {
  EXPECT_EQ(collective_of_name("allreduce"), Collective::kAllReduce);
  EXPECT_EQ(collective_of_name("allreduce_coalesced"), Collective::kAllReduce);
  EXPECT_EQ(collective_of_name("_allgather_base"), Collective::kAllGather);
  EXPECT_EQ(collective_of_name("allgather_into_tensor_coalesced"), Collective::kAllGather);
  EXPECT_EQ(collective_of_name("_reduce_scatter_base"), Collective::kReduceScatter);
  EXPECT_EQ(collective_of_name("reduce_scatter_tensor_coalesced"), Collective::kReduceScatter);
  EXPECT_EQ(collective_of_name("all_to_allv"), Collective::kAllToAll);
  EXPECT_EQ(collective_of_name("_broadcast_oop"), Collective::kBroadcast);
  EXPECT_EQ(collective_of_name("reduce"), Collective::kReduce);
  EXPECT_EQ(collective_of_name("_reduce_oop"), Collective::kReduce);
  EXPECT_EQ(collective_of_name("send"), Collective::kSend);
  EXPECT_EQ(collective_of_name("barrier"), Collective::kBarrier);
  EXPECT_EQ(collective_of_name("coalesced"), Collective::kUnknown);
  EXPECT_EQ(collective_of_name(""), Collective::kUnknown);
}

TEST(CommNames, RangesAndOperators) {
  EXPECT_EQ(collective_of_name("nccl:all_reduce"), Collective::kAllReduce);
  EXPECT_EQ(collective_of_name("nccl:send 0->1"), Collective::kSend);
  EXPECT_EQ(collective_of_name("nccl:recv 1<-0"), Collective::kRecv);
  EXPECT_EQ(collective_of_name("c10d::alltoall_base_"), Collective::kAllToAll);
  EXPECT_EQ(collective_of_name("c10d::allreduce_"), Collective::kAllReduce);
}

TEST(CommNames, Kernels) {
  EXPECT_EQ(collective_of_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"),
            Collective::kAllReduce);
  EXPECT_EQ(collective_of_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"),
            Collective::kAllReduce);
  EXPECT_EQ(collective_of_kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)"),
            Collective::kSendRecv);
  EXPECT_EQ(collective_of_kernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)"),
            Collective::kReduceScatter);
  EXPECT_EQ(collective_of_kernel("ncclDevKernel_Reduce_Sum_f32_RING_LL(x)"), Collective::kReduce);
  EXPECT_EQ(collective_of_kernel("ncclDevKernel_Broadcast_RING_LL(x)"), Collective::kBroadcast);
  EXPECT_EQ(collective_of_kernel("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"),
            Collective::kUnknown);
  EXPECT_EQ(collective_of_kernel("void vllm::cross_device_reduce_1stage<half, 4>(x)"),
            Collective::kAllReduce);
}

TEST(CommNames, WidthsOfTypes) {
  EXPECT_EQ(dtype_bytes("Float"), 4);
  EXPECT_EQ(dtype_bytes("BFloat16"), 2);
  EXPECT_EQ(dtype_bytes("Half"), 2);
  EXPECT_EQ(dtype_bytes("Float8_e4m3fn"), 1);
  EXPECT_EQ(dtype_bytes("long int"), 8);
  EXPECT_EQ(dtype_bytes("float32"), 4);
  EXPECT_EQ(dtype_bytes("ComplexFloat"), 8);
  EXPECT_EQ(dtype_bytes("unsigned char"), 1);
  EXPECT_EQ(dtype_bytes("QuantizedNonsense"), 0);
}

TEST(CommNames, BusFactors) {
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllReduce, 2), 1.0);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllGather, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kBroadcast, 8), 1.0);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllReduce, 1), 0.0);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kUnknown, 8), 0.0);
}

}  // namespace
}  // namespace pyrometer::analysis
