#include <gtest/gtest.h>

#include <string>

#include "analysis/comm.h"
#include "analysis/kernel_classes.h"
#include "analysis/steps.h"
#include "model/timeline_builder.h"

namespace pyrometer::analysis {
namespace {

using model::ActivityKind;
using model::FactId;
using model::Index;
using model::kNone;
using model::TimeNs;

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";
constexpr const char* kGeneric = "ncclDevKernel_Generic(x)";
constexpr const char* kCompute = "ampere_bf16_s16816gemm_bf16_128x128_nn";

// One rank, one device, kernels at given times.
class RankBuilder {
 public:
  Index detail(const std::string& collective, std::int64_t in, std::int64_t out,
               const std::string& group, int size, const std::string& dtype = "Float") {
    model::RankTimeline& t = builder_.timeline();
    model::CommDetail d;
    d.collective = t.names.intern(collective);
    d.process_group = t.names.intern(group);
    d.group_ranks = t.names.intern("[of " + group + "]");
    d.dtype = t.names.intern(dtype);
    d.in_elements = in;
    d.out_elements = out;
    d.group_size = size;
    t.comm_details.push_back(d);
    return static_cast<Index>(t.comm_details.size() - 1);
  }
  void kernel(const std::string& name, int stream, TimeNs start, TimeNs end, Index comm = kNone,
              TimeNs launch = -1) {
    model::RankTimeline& t = builder_.timeline();
    const std::uint64_t correlation = ++correlation_;
    if (launch >= 0) {
      builder_.add_api_call(launch, launch + 1, t.names.intern("cudaLaunchKernel"),
                            builder_.thread(1, "1"), correlation);
    }
    builder_.add_activity(ActivityKind::kKernel, start, end, t.names.intern(name),
                          builder_.device(0), stream, correlation, model::CopyKind::kNotCopy,
                          model::HostMemory::kUnknown, kNone, comm);
  }
  void annotation(const std::string& name, TimeNs start, TimeNs end) {
    builder_.add_annotation(start, end, builder_.timeline().names.intern(name),
                            builder_.thread(1, "1"));
  }
  void op(const std::string& name, TimeNs start, TimeNs end) {
    builder_.add_host_op(start, end, builder_.timeline().names.intern(name),
                         builder_.thread(1, "1"));
  }
  model::RankAnalysis analyse() {
    timeline_ = builder_.finish();
    model::RankAnalysis a;
    classify_names(timeline_, a);
    find_steps(timeline_, a);
    find_communication(timeline_, a);
    return a;
  }

 private:
  model::TimelineBuilder builder_;
  model::RankTimeline timeline_;
  std::uint64_t correlation_ = 0;
};

TEST(Communication, ExposedAndOverlappedAreUnions) {
  RankBuilder b;
  b.kernel(kCompute, 7, 0, 100);
  b.kernel(kCompute, 8, 50, 150);  // compute: [0, 150) and [300, 400)
  b.kernel(kCompute, 7, 300, 400);
  const Index d = b.detail("allreduce", 10, 10, "0", 2);
  b.kernel(kAllReduce, 17, 120, 200, d);
  b.kernel(kAllReduce, 18, 180, 260, d);  // concurrent on another stream: counted once
  b.kernel(kAllReduce, 17, 350, 360, d);
  const model::RankAnalysis a = b.analyse();
  ASSERT_EQ(a.comm.rows.size(), 1U);
  const model::CommRow& row = a.comm.rows[0];
  EXPECT_EQ(row.collective, "all_reduce");
  EXPECT_EQ(row.group, "0");
  EXPECT_EQ(row.group_size, 2);
  EXPECT_EQ(row.stats.count, 3);
  EXPECT_EQ(row.stats.total, 170);
  EXPECT_EQ(row.bytes, 120);
  EXPECT_EQ(a.comm.total, 150);  // [120, 260) and [350, 360)
  EXPECT_EQ(a.comm.exposed, 110);
  EXPECT_EQ(row.exposed, 110);
  EXPECT_EQ(row.overlapped, 40);
  EXPECT_DOUBLE_EQ(a.comm.overlap, 40.0 / 150);
  EXPECT_DOUBLE_EQ(*a.facts.value(FactId::kCommShare), 150.0 / 400);
  EXPECT_DOUBLE_EQ(*a.facts.value(FactId::kCommExposedShare), 110.0 / 400);
}

TEST(Communication, BytesAreTheLargerSideTimesTheWidth) {
  RankBuilder b;
  b.kernel("ncclDevKernel_AllGather_RING_LL(x)", 17, 0, 1'000,
           b.detail("_allgather_base", 1'000, 8'000, "0", 8, "BFloat16"));
  const model::RankAnalysis a = b.analyse();
  EXPECT_EQ(a.comm.rows[0].bytes, 16'000);
  // 16 kB × 7/8 in 1 µs.
  EXPECT_DOUBLE_EQ(*a.facts.value(FactId::kCommBusBandwidth), 14.0);
}

TEST(Communication, MissingSizesAreNotZero) {
  RankBuilder b;
  b.annotation("ProfilerStep#1", 0, 500);
  b.kernel(kAllReduce, 17, 10, 20, kNone, 5);
  const model::RankAnalysis a = b.analyse();
  EXPECT_EQ(a.comm.rows[0].bytes, -1);
  EXPECT_EQ(a.comm.rows[0].group, "");
  EXPECT_EQ(a.comm.rows[0].group_size, -1);
  EXPECT_DOUBLE_EQ(*a.facts.value(FactId::kCommPerStep), 1);
  EXPECT_FALSE(a.facts.has(FactId::kCommBytesPerStep));
  EXPECT_EQ(a.facts.missing_reason(FactId::kCommBytesPerStep),
            "message sizes are given for 0 of 1 communication kernels");
  EXPECT_FALSE(a.facts.has(FactId::kCommBusBandwidth));
  EXPECT_EQ(a.comm.calls[0].step_number, 1);
}

TEST(Communication, AKernelWithoutArgumentsBelongsToTheGroupOfItsStream) {
  RankBuilder b;
  b.kernel(kAllReduce, 17, 0, 10);  // launched before the profiler was on
  b.kernel(kAllReduce, 17, 20, 30, b.detail("allreduce", 1, 1, "data", 4));
  b.kernel(kAllReduce, 18, 20, 30, b.detail("allreduce", 1, 1, "tensor", 2));
  b.kernel(kAllReduce, 18, 40, 50, b.detail("allreduce", 1, 1, "pipeline", 2));
  b.kernel(kAllReduce, 18, 60, 70);  // two groups on this stream: not known
  const model::RankAnalysis a = b.analyse();
  ASSERT_EQ(a.comm.rows.size(), 4U);
  EXPECT_EQ(a.comm.rows[0].group, "data");
  EXPECT_EQ(a.comm.rows[0].stats.count, 2);
}

TEST(Communication, WhatAGenericKernelDoesStandsAroundItsLaunch) {
  RankBuilder b;
  b.op("c10d::broadcast_", 100, 200);
  b.kernel(kGeneric, 17, 300, 310, kNone, 150);
  b.annotation("nccl:all_to_all", 400, 500);
  b.annotation("my all_gather helper", 420, 480);
  b.kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", 17, 600, 620, kNone, 450);
  b.kernel(kGeneric, 17, 700, 730, kNone, 650);
  const model::RankAnalysis a = b.analyse();
  ASSERT_EQ(a.comm.rows.size(), 3U);
  EXPECT_EQ(a.comm.rows[0].collective, "unknown");
  EXPECT_EQ(a.comm.rows[1].collective, "all_to_all");
  EXPECT_EQ(a.comm.rows[2].collective, "broadcast");
}

TEST(Communication, OnlyTheWindowCounts) {
  RankBuilder b;
  b.annotation("ProfilerStep#4", 1'000, 2'000);
  b.annotation("ProfilerStep#5", 2'000, 3'000);
  b.kernel(kAllReduce, 17, 900, 1'100);  // reaches in: its time inside is comm time of the window
  b.kernel(kAllReduce, 17, 1'500, 1'600, kNone, 1'400);
  b.kernel(kAllReduce, 17, 2'500, 2'600, kNone, 2'400);
  const model::RankAnalysis a = b.analyse();
  EXPECT_EQ(a.comm.calls.size(), 3U);
  EXPECT_EQ(a.comm.rows[0].stats.count, 2);
  EXPECT_EQ(a.comm.total, 300);
  EXPECT_DOUBLE_EQ(a.comm.rows[0].per_step, 1);
}

TEST(Communication, NoneIsZeroAndNoDeviceIsMissing) {
  RankBuilder quiet;
  quiet.kernel(kCompute, 7, 0, 100);
  const model::RankAnalysis a = quiet.analyse();
  EXPECT_TRUE(a.comm.rows.empty());
  EXPECT_EQ(a.comm.overlap, -1);
  EXPECT_DOUBLE_EQ(*a.facts.value(FactId::kCommShare), 0);
  EXPECT_EQ(a.facts.missing_reason(FactId::kCommOverlap), "there is no communication");

  RankBuilder host_only;
  host_only.op("aten::mm", 0, 100);
  const model::RankAnalysis h = host_only.analyse();
  EXPECT_FALSE(h.facts.has(FactId::kCommShare));
  EXPECT_EQ(h.facts.missing_reason(FactId::kCommShare), "no device activity was recorded");
}

}  // namespace
}  // namespace pyrometer::analysis
