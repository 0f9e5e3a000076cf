#include "analysis/replay.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/critical_path.h"
#include "analysis/dilation.h"
#include "analysis/what_if.h"
#include "tests/support/random_timeline.h"
#include "tests/support/trace_script.h"

namespace pyrometer::analysis {
namespace {

using model::CopyKind;
using model::HostMemory;
using model::TimeNs;
using testing::Analysed;
using testing::TraceScript;

constexpr TimeNs kUs = 1'000;

// Everything a what-if refers to, for one or more ranks.
struct Job {
  model::Timeline timeline;
  model::JobAnalysis analysis;

  void add(Analysed rank) {
    timeline.ranks.push_back(std::move(rank.timeline));
    analysis.ranks.push_back(std::move(rank.analysis));
  }
  // Mean step as recorded, with the edit, in µs.
  [[nodiscard]] double step_us(const Edit& edit) const {
    return WhatIf(timeline, analysis).step_ns(edit, 0) / 1e3;
  }
};

Job job_of(TraceScript& script) {
  Job job;
  job.add(script.run(estimate_dilation));
  return job;
}

// `steps` steps of 1000 µs. In each, `launches` operators with a launch call of 10 µs at even
// distances; their kernels take `kernel_us` and follow each other on the stream.
void add_steps(TraceScript& script, int steps, int launches, TimeNs kernel_us,
               std::string_view kernel = "sgemm") {
  const TimeNs apart = 1000 * kUs / launches;
  TimeNs free = 0;
  std::uint64_t correlation = 1;
  for (int s = 0; s < steps; ++s) {
    const TimeNs begin = s * 1000 * kUs;
    script.step(s, begin, begin + 1000 * kUs);
    for (int i = 0; i < launches; ++i) {
      const TimeNs at = begin + i * apart;
      script.op("aten::mm", at, at + 20 * kUs);
      script.call("cudaLaunchKernel", at + 5 * kUs, at + 15 * kUs, correlation);
      const TimeNs start = std::max(at + 18 * kUs, free + kUs);
      script.kernel(kernel, start, start + kernel_us * kUs, correlation);
      free = start + kernel_us * kUs;
      ++correlation;
    }
  }
}

Edit scaled_kernels(double time, double host = 1) {
  Edit edit;
  Edit::KernelScale scale;
  scale.applies = [](const model::KernelTraits&, model::NameId) { return true; };
  scale.time = time;
  scale.host = host;
  edit.kernels.push_back(scale);
  return edit;
}

TEST(Replay, HostBoundStepFollowsTheHost) {
  TraceScript script;
  add_steps(script, 5, 10, 20);
  const Job job = job_of(script);
  EXPECT_NEAR(job.step_us({}), 1000, 1);
  EXPECT_NEAR(job.step_us(scaled_kernels(0.1)), 1000, 5);  // the device was waiting anyway
  Edit faster;
  faster.host_ops = 0;
  faster.host_other = 0.5;
  // Of 100 µs per launch 80 are neither operator nor call: half of them stay, more than the kernel.
  EXPECT_NEAR(job.step_us(faster), 400, 5);
}

TEST(Replay, DeviceBoundStepFollowsTheDevice) {
  TraceScript script;
  add_steps(script, 5, 10, 150);  // 10 × (150 + 1) µs of device time in 1000 µs of host time
  const Job job = job_of(script);
  EXPECT_NEAR(job.step_us({}), 1510, 5);
  EXPECT_NEAR(job.step_us(scaled_kernels(0.9)), 1360, 5);
  EXPECT_NEAR(job.step_us(scaled_kernels(0.1)), 1000, 10);  // now the host is slower
  Edit faster;
  faster.host_ops = faster.host_other = 0.1;
  EXPECT_NEAR(job.step_us(faster), 1510, 20);
}

TEST(Replay, KernelsGoWithTheirLaunches) {
  TraceScript script;
  add_steps(script, 4, 10, 20, "sgemm");
  const Job job = job_of(script);
  // Operators and calls take 20 of 100 µs per launch.
  EXPECT_NEAR(job.step_us(scaled_kernels(0, 0)), 800, 5);
}

// Each step: a kernel of 300 µs, then a read that waits for it, then 200 µs of host time.
void add_reading_steps(TraceScript& script, int steps) {
  TimeNs at = 0;
  std::uint64_t correlation = 1;
  for (int s = 0; s < steps; ++s) {
    const TimeNs begin = at;
    script.op("aten::mm", at, at + 20 * kUs);
    script.call("cudaLaunchKernel", at + 5 * kUs, at + 10 * kUs, correlation);
    script.kernel("sgemm", at + 12 * kUs, at + 312 * kUs, correlation++);
    const TimeNs read = at + 30 * kUs;
    script.op("aten::item", read, at + 330 * kUs);
    script.call("cudaMemcpyAsync", read + 5 * kUs, read + 10 * kUs, correlation);
    script.copy(CopyKind::kD2H, HostMemory::kPinned, 4, at + 314 * kUs, at + 316 * kUs,
                correlation++);
    script.call("cudaStreamSynchronize", read + 12 * kUs, at + 320 * kUs);
    at += 530 * kUs;
    script.step(s, begin, at);
  }
}

TEST(Replay, RemovingAWaitLetsTheHostRunAhead) {
  TraceScript script;
  add_reading_steps(script, 6);
  const Job job = job_of(script);
  EXPECT_NEAR(job.step_us({}), 530, 2);
  Edit edit;
  edit.remove_syncs = true;
  // Both now overlap: the host has about 250 µs of its own per step, the device 303.
  EXPECT_NEAR(job.step_us(edit), 306, 25);
  edit.sync_names = {"aten::item"};
  EXPECT_NEAR(job.step_us(edit), 306, 25);
  edit.sync_names = {"aten::nonzero"};  // no such wait
  EXPECT_NEAR(job.step_us(edit), 530, 2);
}

TEST(Replay, WaitsForTheDeviceShrinkWithIt) {
  TraceScript script;
  add_reading_steps(script, 6);
  EXPECT_NEAR(job_of(script).step_us(scaled_kernels(0.5)), 380, 5);
}

// Each step copies from pageable memory (400 µs, the host is held), then computes 500 µs.
TEST(Replay, PinnedCopyNoLongerHoldsTheHost) {
  TraceScript script;
  TimeNs at = 0;
  std::uint64_t correlation = 1;
  for (int s = 0; s < 6; ++s) {
    const TimeNs begin = at;
    script.op("aten::copy_", at, at + 415 * kUs);
    script.call("cudaMemcpyAsync", at + 5 * kUs, at + 412 * kUs, correlation);
    script.copy(CopyKind::kH2D, HostMemory::kPageable, 1 << 22, at + 10 * kUs, at + 410 * kUs,
                correlation++);
    script.op("aten::mm", at + 420 * kUs, at + 440 * kUs);
    script.call("cudaLaunchKernel", at + 422 * kUs, at + 430 * kUs, correlation);
    script.kernel("sgemm", at + 433 * kUs, at + 933 * kUs, correlation++);
    script.call("cudaDeviceSynchronize", at + 440 * kUs, at + 935 * kUs);
    at += 940 * kUs;
    script.step(s, begin, at);
  }
  const Job job = job_of(script);
  EXPECT_NEAR(job.step_us({}), 940, 3);
  Edit edit;
  edit.copies_async = true;
  edit.h2d_time = 0.1;
  EXPECT_NEAR(job.step_us(edit), 40 + 503 + 30, 30);  // on the same stream, before the kernel
  edit.remove_syncs = true;
  edit.h2d_overlapped = true;
  EXPECT_NEAR(job.step_us(edit), 502, 10);  // the copies hide behind the kernels
}

// Each step waits 600 µs for the loader, then 400 µs of launches that take 300 µs on the device.
Job loader_job(std::string_view loader) {
  TraceScript script;
  TimeNs at = 0;
  std::uint64_t correlation = 1;
  for (int s = 0; s < 8; ++s) {
    const TimeNs begin = at;
    script.note(loader, at, at + 600 * kUs);
    for (int i = 0; i < 4; ++i) {
      const TimeNs launch = at + 600 * kUs + i * 100 * kUs;
      script.call("cudaLaunchKernel", launch + 80 * kUs, launch + 90 * kUs, correlation);
      script.kernel("sgemm", launch + 93 * kUs, launch + 168 * kUs, correlation++);
    }
    at += 1000 * kUs;
    script.step(s, begin, at);
  }
  Job job;
  job.add(script.run(estimate_dilation));
  return job;
}

TEST(Replay, LoaderInTheProcessMovesToWorkers) {
  const Job job = loader_job("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  EXPECT_NEAR(job.step_us({}), 1000, 15);
  Edit edit;
  edit.input_wait = 0;
  EXPECT_NEAR(job.step_us(edit), 400, 15);
  edit = {};
  edit.input_wait_cap_ns = 100e3;
  EXPECT_NEAR(job.step_us(edit), 500, 15);
  edit = {};
  edit.loader_workers = 1;  // overlapped, but now the loader is what takes longest
  EXPECT_NEAR(job.step_us(edit), 600, 15);
  edit.loader_workers = 4;
  EXPECT_NEAR(job.step_us(edit), 400, 15);
}

TEST(Replay, LoaderInOtherProcessesKeepsItsPace) {
  Job job = loader_job("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
  job.analysis.ranks[0].pauses.input.kind = model::LoaderKind::kMultiProcess;
  Edit quicker;
  quicker.host_other = quicker.host_ops = 0.25;
  EXPECT_NEAR(job.step_us(quicker), 1000, 40);  // the batches still come once per 1000 µs
  quicker.input_wait = 0.5;
  EXPECT_NEAR(job.step_us(quicker), 500, 30);
}

TEST(Replay, AnotherStreamIsWaitedFor) {
  TraceScript script;
  std::uint64_t correlation = 1;
  for (int s = 0; s < 5; ++s) {
    const TimeNs begin = s * 1000 * kUs;
    script.step(s, begin, begin + 1000 * kUs);
    script.call("cudaLaunchKernel", begin + 10 * kUs, begin + 15 * kUs, correlation);
    script.kernel("sgemm", begin + 20 * kUs, begin + 520 * kUs, correlation++, 7);
    script.call("cudaLaunchKernel", begin + 30 * kUs, begin + 35 * kUs, correlation);
    script.kernel("ncclDevKernel_AllReduce", begin + 522 * kUs, begin + 922 * kUs, correlation++,
                  20);
    script.call("cudaDeviceSynchronize", begin + 50 * kUs, begin + 925 * kUs);
  }
  const Job job = job_of(script);
  EXPECT_NEAR(job.step_us({}), 1000, 2);
  Edit edit;
  Edit::KernelScale scale;
  scale.applies_to_name = [](std::string_view name) { return name == "sgemm"; };
  scale.time = 0.5;
  edit.kernels.push_back(scale);
  EXPECT_NEAR(job.step_us(edit), 750, 3);  // the collective starts 250 µs earlier
  edit = {};
  edit.comm_time = 0.5;
  EXPECT_NEAR(job.step_us(edit), 800, 3);
}

TEST(Replay, RangesScale) {
  TraceScript script;
  add_steps(script, 4, 10, 20);
  for (int s = 0; s < 4; ++s) {
    const TimeNs begin = s * 1000 * kUs;
    script.note("Optimizer.step#SGD.step", begin + 499 * kUs, begin + 1000 * kUs);
  }
  Edit edit;
  edit.ranges.push_back({"Optimizer.step", 0.1, 0.1});
  EXPECT_NEAR(job_of(script).step_us(edit), 1000 - 5 * 90, 25);
}

TEST(Replay, CudaGraphTakesTheOperatorsTime) {
  TraceScript script;
  add_steps(script, 4, 10, 20);
  Edit edit;
  edit.graph_launch_ns = 15e3;
  edit.host_other = 0;
  EXPECT_NEAR(job_of(script).step_us(edit), 10 * 21, 15);  // the kernels alone
}

TEST(Replay, LargerBatchSharesHostTime) {
  TraceScript script;
  add_steps(script, 4, 10, 20);  // the kernels' grids are not known: they grow with the batch
  Edit edit;
  edit.batch = 2;
  EXPECT_NEAR(job_of(script).step_us(edit), 500, 5);
}

// Two ranks: each step 100 µs of host time, a kernel of `kernel_us`, then an all-reduce of 50 µs
// that begins when both are there.
Analysed rank_with(TimeNs kernel_us, TimeNs slowest_us, int steps) {
  TraceScript script;
  std::uint64_t correlation = 1;
  const TimeNs length = (100 + slowest_us + 60) * kUs;
  for (int s = 0; s < steps; ++s) {
    const TimeNs begin = s * length;
    script.step(s, begin, begin + length);
    script.call("cudaLaunchKernel", begin + 90 * kUs, begin + 95 * kUs, correlation);
    const TimeNs start = begin + 100 * kUs;
    script.kernel("sgemm", start, start + kernel_us * kUs, correlation++);
    script.call("cudaLaunchKernel", begin + 96 * kUs, begin + 98 * kUs, correlation);
    script.kernel("ncclDevKernel_AllReduce", start + (kernel_us + 1) * kUs,
                  start + (slowest_us + 51) * kUs, correlation++);
    script.call("cudaDeviceSynchronize", begin + 100 * kUs, begin + length - kUs);
  }
  return script.run(estimate_dilation);
}

Job two_ranks(TimeNs first_us, TimeNs second_us) {
  constexpr int kSteps = 5;
  Job job;
  const TimeNs slowest = std::max(first_us, second_us);
  job.add(rank_with(first_us, slowest, kSteps));
  job.add(rank_with(second_us, slowest, kSteps));
  model::CrossRank& cross = job.analysis.cross;
  cross.matched = true;
  cross.clock.resize(2);
  for (model::Index s = 0; s < kSteps; ++s) {
    cross.matches.push_back({{2 * s + 1, 2 * s + 1}, 0, 0, true});
  }
  for (std::size_t r = 0; r < 2; ++r) {
    auto& arrival = job.analysis.ranks[r].comm.last_arrival;
    const auto& activities = job.timeline.ranks[r].activities;
    arrival.assign(activities.size(), model::kUnknownArrival);
    for (model::Index i = 1; i < activities.size(); i += 2) {
      arrival[i] = activities.end[i] - 50 * kUs;
    }
  }
  return job;
}

TEST(Replay, CollectivesWaitForTheLastRank) {
  const Job job = two_ranks(200, 600);
  EXPECT_NEAR(job.step_us({}), 760, 3);
  // Rank 1 alone gets faster: until rank 0 is the last.
  EXPECT_NEAR(job.step_us(scaled_kernels(0.5)), 460, 10);
  Edit edit;
  edit.no_skew = true;
  EXPECT_NEAR(job.step_us(edit), 560, 10);
  edit.skew_to_fastest = 1;
  EXPECT_NEAR(job.step_us(edit), 360, 10);
}

TEST(Replay, PredictionHoldsItsMiddle) {
  TraceScript script;
  add_steps(script, 6, 10, 20);
  const Job job = job_of(script);
  const WhatIf what_if(job.timeline, job.analysis);
  Edit best;
  best.host_ops = 0.2;
  Edit expected;
  expected.host_ops = 0.5;
  Edit worst;
  worst.host_ops = 0.9;
  const model::Prediction p = what_if.predict(best, expected, worst, "test");
  EXPECT_LT(p.low_ns, p.mid_ns);
  EXPECT_LT(p.mid_ns, p.high_ns);
  EXPECT_GE(p.speedup_high(), p.speedup_low());
  EXPECT_NEAR(p.baseline_ns, what_if.baseline().corrected_ns, 1);
}

TEST(Replay, SaysWhyItCannot) {
  TraceScript script;
  script.call("cudaLaunchKernel", 0, 10, 1);
  script.kernel("sgemm", 20, 30, 1);
  const Job job = job_of(script);
  const WhatIf what_if(job.timeline, job.analysis);
  EXPECT_FALSE(what_if.available());
  EXPECT_FALSE(what_if.baseline().unavailable.empty());
}

TEST(ChooseSteps, AllWhereTheyFit) {
  const auto ranges = choose_steps({10, 20, 30}, 60);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].first, 0U);
  EXPECT_EQ(ranges[0].count, 3U);
}

TEST(ChooseSteps, SpreadsDisjointRangesWhereTheyDoNot) {
  const std::vector<std::uint32_t> items(1000, 100);
  const auto ranges = choose_steps(items, 20'000);
  model::Index next = 0;
  model::Index total = 0;
  for (const StepRange& range : ranges) {
    EXPECT_GE(range.first, next);
    next = range.first + range.count;
    total += range.count;
  }
  EXPECT_GT(ranges.size(), 1U);
  EXPECT_EQ(next, 1000U);
  EXPECT_LE(total, 200U);
}

TEST(CombineEdits, FactorsMultiplyAndFlagsAdd) {
  Edit a;
  a.host_ops = 0.5;
  a.remove_syncs = true;
  a.sync_names = {"aten::item"};
  a.input_wait_cap_ns = 10;
  Edit b;
  b.host_ops = 0.5;
  b.copies_async = true;
  const Edit both = combine(a, b);
  EXPECT_DOUBLE_EQ(both.host_ops, 0.25);
  EXPECT_TRUE(both.copies_async);
  EXPECT_EQ(both.sync_names, a.sync_names);  // b removes none, so its empty list does not count
  EXPECT_DOUBLE_EQ(both.input_wait_cap_ns, 10);
  b.remove_syncs = true;  // all
  EXPECT_TRUE(combine(a, b).sync_names.empty());
}

}  // namespace
}  // namespace pyrometer::analysis
