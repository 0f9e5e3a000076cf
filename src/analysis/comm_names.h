// What the names in a trace say about communication: which collective, how wide its elements.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/comm.h"

namespace pyrometer::analysis {

// "all_reduce", "all_gather", …, "unknown".
[[nodiscard]] std::string_view collective_name(model::Collective collective);

// From a name as the framework gives it: "allreduce", "_allgather_base", "all_to_allv",
// "nccl:_reduce_scatter_base", "c10d::allreduce_coalesced_" …
[[nodiscard]] model::Collective collective_of_name(std::string_view name);

// From a kernel's name: "ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)", "ncclKernel_SendRecv_RING…",
// "cross_device_reduce_1stage<…>" … kUnknown for generic kernels that serve any collective.
[[nodiscard]] model::Collective collective_of_kernel(std::string_view name);

// Bytes per element of a dtype as the profiler writes it ("Float", "BFloat16", "float32" …);
// 0 when it is not known.
[[nodiscard]] int dtype_bytes(std::string_view dtype);

// Every rank leaves such a collective at the same time, because it needs the data of all the
// others. Of the rest (broadcast, reduce, gather, scatter, send) some ranks may leave early.
[[nodiscard]] bool ends_together(model::Collective collective);

// Bytes that cross each rank's link per message byte, for a group of `size`: what turns message
// bytes per second into bus bandwidth, comparable between collectives and with the link's rate.
// Source: NCCL tests, doc/PERFORMANCE.md. 0 when the group has fewer than two ranks.
[[nodiscard]] double bus_factor(model::Collective collective, int size);

}  // namespace pyrometer::analysis
