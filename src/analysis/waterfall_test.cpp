#include "analysis/waterfall.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/steps.h"
#include "tests/support/classify.h"
#include "tests/support/random_timeline.h"
#include "tests/support/waterfall_oracle.h"

namespace pyrometer::analysis {
namespace {

using model::at;
using model::Cause;
using model::CauseTimes;
using model::Index;
using model::Interval;
using model::TimeNs;
using testing::classified;
using testing::RandomTimelineOptions;

RandomTimelineOptions options_for(int round) {
  RandomTimelineOptions options;
  options.devices = 1 + round % 3;
  options.streams = 1 + round % 4;
  options.steps = round % 5 == 0 ? 0 : 4;
  options.host_events = round % 7 != 0;
  options.messy = round % 2 == 1;
  return options;
}

model::RankAnalysis analysed(const model::RankTimeline& t) {
  model::RankAnalysis a = classified(t);
  find_steps(t, a);
  compute_waterfall(t, a);
  return a;
}

// Cause sums of a device by asking the oracle about every elementary interval.
CauseTimes by_oracle(const model::RankTimeline& t, const model::RankAnalysis& a,
                     model::DeviceId device, Interval window) {
  std::vector<TimeNs> edges{window.start, window.end};
  const auto add = [&](const auto& table) {
    edges.insert(edges.end(), table.start.begin(), table.start.end());
    edges.insert(edges.end(), table.end.begin(), table.end.end());
  };
  add(t.activities);
  add(t.api_calls);
  add(t.host_ops);
  add(t.annotations);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  CauseTimes sums{};
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    if (edges[i] < window.start || edges[i + 1] > window.end) continue;
    at(sums, testing::cause_at(t, a, device, edges[i])) += edges[i + 1] - edges[i];
  }
  return sums;
}

TEST(WaterfallProperty, AgreesWithItsDefinitionMomentByMoment) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    const auto t = testing::build(testing::random_rows(random, options_for(round)));
    const auto a = analysed(t);
    for (const model::DeviceWaterfall& device : a.waterfall.devices) {
      const CauseTimes expected = by_oracle(t, a, device.device, device.window);
      for (std::size_t c = 0; c < model::kCauseCount; ++c) {
        EXPECT_EQ(device.causes[c], expected[c])
            << "round " << round << " cause " << model::cause_info(static_cast<Cause>(c)).id;
      }
    }
  }
}

TEST(WaterfallProperty, SumsToTheWindowExactlyAndIsNeverNegative) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 150; ++round) {
    const auto t = testing::build(testing::random_rows(random, options_for(round)));
    const auto a = analysed(t);
    ASSERT_FALSE(a.waterfall.devices.empty());
    model::DurationNs whole = 0;
    for (const model::DeviceWaterfall& device : a.waterfall.devices) {
      EXPECT_EQ(model::total(device.causes), a.steps.window.length());
      EXPECT_EQ(device.busy() + device.idle(), a.steps.window.length());
      for (const model::DurationNs cause : device.causes) EXPECT_GE(cause, 0);
      ASSERT_EQ(device.steps.size(), a.steps.steps.size());
      for (std::size_t s = 0; s < device.steps.size(); ++s) {
        EXPECT_EQ(model::total(device.steps[s]), a.steps.steps[s].span.length());
      }
      model::DurationNs gaps = 0;
      for (const model::Gap& gap : device.gaps) {
        EXPECT_EQ(model::total(gap.causes), gap.span.length());
        EXPECT_GT(gap.span.length(), 0);
        gaps += gap.span.length();
      }
      EXPECT_EQ(gaps, device.idle());
      model::DurationNs reasons = 0;
      for (const auto& reason : device.unattributed) reasons += reason.time;
      EXPECT_EQ(reasons, at(device.causes, Cause::kUnattributed));
      whole += model::total(device.causes);
    }
    EXPECT_EQ(model::total(a.waterfall.causes), whole);
  }
}

TEST(WaterfallProperty, OrderOfTheInputChangesNothing) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 60; ++round) {
    auto rows = testing::random_rows(random, options_for(round));
    const auto first = analysed(testing::build(rows));
    std::shuffle(rows.begin(), rows.end(), random);
    const auto second = analysed(testing::build(rows));
    ASSERT_EQ(first.waterfall.devices.size(), second.waterfall.devices.size());
    EXPECT_EQ(first.waterfall.causes, second.waterfall.causes);
    for (std::size_t d = 0; d < first.waterfall.devices.size(); ++d) {
      EXPECT_EQ(first.waterfall.devices[d].causes, second.waterfall.devices[d].causes);
      EXPECT_EQ(first.waterfall.devices[d].steps, second.waterfall.devices[d].steps);
    }
  }
}

TEST(WaterfallProperty, PartsOfAWindowAddUpToTheWhole) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 80; ++round) {
    const auto t = testing::build(testing::random_rows(random, options_for(round)));
    const auto a = analysed(t);
    const Interval window = a.steps.window;
    std::vector<TimeNs> cuts{window.start, window.end};
    for (int i = 0; i < 4; ++i) {
      cuts.push_back(std::uniform_int_distribution<TimeNs>(window.start, window.end)(random));
    }
    std::sort(cuts.begin(), cuts.end());
    CauseTimes sum{};
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const auto part = waterfall_of(t, a, {cuts[i], cuts[i + 1]}, {});
      for (std::size_t c = 0; c < model::kCauseCount; ++c) sum[c] += part.causes[c];
    }
    EXPECT_EQ(sum, a.waterfall.causes) << "round " << round;
  }
}

TEST(WaterfallProperty, AnEventWithoutWorkChangesNoCause) {
  std::mt19937_64 random(19);
  for (int round = 0; round < 40; ++round) {
    auto options = options_for(round);
    options.steps = 4;
    options.host_events = true;
    auto rows = testing::random_rows(random, options);
    const auto t = testing::build(rows);
    const auto before = analysed(t);
    const Interval window = before.steps.window;
    for (int i = 0; i < 5; ++i) {
      const TimeNs when =
          std::uniform_int_distribution<TimeNs>(window.start, window.end - 1)(random);
      rows.push_back([when](model::TimelineBuilder& b) {
        b.add_activity(model::ActivityKind::kKernel, when, when,
                       b.timeline().names.intern("some_unknown_kernel"), b.device(0), 999, 0);
      });
    }
    EXPECT_EQ(analysed(testing::build(rows)).waterfall.causes, before.waterfall.causes);
  }
}

// One device, one thread, written out by hand.
class HandMade : public ::testing::Test {
 protected:
  void kernel(TimeNs launch, TimeNs start, TimeNs end, const char* name = "some_unknown_kernel",
              int stream = 7) {
    const std::uint64_t id = ++correlation_;
    builder_.add_api_call(launch, launch + 2, intern("cudaLaunchKernel"), thread_, id);
    builder_.add_activity(model::ActivityKind::kKernel, start, end, intern(name),
                          builder_.device(0), stream, id);
  }
  model::NameId intern(const char* name) { return builder_.timeline().names.intern(name); }
  void range(TimeNs start, TimeNs end, const char* name) {
    builder_.add_annotation(start, end, intern(name), thread_);
  }
  void call(TimeNs start, TimeNs end, const char* name) {
    builder_.add_api_call(start, end, intern(name), thread_, 0);
  }
  CauseTimes causes(Interval window) {
    timeline_ = builder_.finish();
    const auto a = classified(timeline_);
    return waterfall_of(timeline_, a, window, {}).causes;
  }

  model::TimelineBuilder builder_;
  model::RankTimeline timeline_;
  model::ThreadId thread_ = builder_.thread(1, "1");
  std::uint64_t correlation_ = 0;
};

TEST_F(HandMade, ComputeComesBeforeCommunicationBeforeCopies) {
  kernel(0, 10, 50, "ncclDevKernel_AllReduce_Sum", 20);
  kernel(1, 20, 30, "x_s16816gemm");
  builder_.add_activity(model::ActivityKind::kCopy, 40, 70, intern("Memcpy HtoD"),
                        builder_.device(0), 9, 0, model::CopyKind::kH2D);
  const auto c = causes({10, 70});
  EXPECT_EQ(at(c, Cause::kCommTransfer), 30);
  EXPECT_EQ(at(c, Cause::kComputeTensor), 10);
  EXPECT_EQ(at(c, Cause::kCopyH2d), 20);
}

TEST_F(HandMade, TheEarliestStartedComputeKernelNamesTheClass) {
  kernel(0, 10, 40, "x_sgemm", 1);
  kernel(1, 20, 60, "x_elementwise", 2);
  const auto c = causes({10, 60});
  EXPECT_EQ(at(c, Cause::kComputeMath), 30);
  EXPECT_EQ(at(c, Cause::kComputeMemory), 20);
}

TEST_F(HandMade, WorkQueuedBeforeTheGapMakesItTheDevices) {
  kernel(0, 10, 20);
  kernel(5, 26, 30);
  EXPECT_EQ(at(causes({10, 30}), Cause::kIdleDevice), 6);
}

TEST_F(HandMade, AGapIsSplitByWhatTheLaunchingThreadDid) {
  kernel(0, 10, 20);
  range(20, 40, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  call(45, 50, "cudaMalloc");
  call(50, 58, "cudaStreamSynchronize");
  builder_.add_host_op(60, 75, intern("aten::mm"), thread_);
  kernel(70, 80, 90);
  const auto c = causes({10, 90});
  EXPECT_EQ(at(c, Cause::kIdleInput), 20);
  EXPECT_EQ(at(c, Cause::kIdleHost), 5 + 2);
  EXPECT_EQ(at(c, Cause::kIdleAlloc), 5);
  EXPECT_EQ(at(c, Cause::kIdleSync), 8);
  EXPECT_EQ(at(c, Cause::kIdleLaunch), 10 + 10);
}

TEST_F(HandMade, TheInnermostExplicitRegionWinsOverEverythingElse) {
  kernel(0, 10, 20);
  range(20, 60, "validation");
  range(30, 40, "save_checkpoint");
  call(50, 55, "cudaStreamSynchronize");
  kernel(60, 61, 70);
  const auto c = causes({10, 70});
  EXPECT_EQ(at(c, Cause::kIdleCheckpoint), 10);
  EXPECT_EQ(at(c, Cause::kIdleValidation), 30);
  EXPECT_EQ(at(c, Cause::kIdleSync), 0);
}

TEST_F(HandMade, AWaitingThreadLendsTheMainThreadsRegion) {
  range(0, 100, "ProfilerStep#1");
  kernel(1, 10, 20);
  range(20, 50, "get_batch");
  const model::ThreadId autograd = builder_.thread(1, "2");
  builder_.add_host_op(60, 75, intern("MmBackward"), autograd);
  builder_.add_api_call(70, 72, intern("cudaLaunchKernel"), autograd, 77);
  builder_.add_activity(model::ActivityKind::kKernel, 80, 90, intern("k"), builder_.device(0), 7,
                        77);
  const auto c = causes({10, 90});
  EXPECT_EQ(at(c, Cause::kIdleInput), 30);
  EXPECT_EQ(at(c, Cause::kIdleHost), 10);
  EXPECT_EQ(at(c, Cause::kIdleLaunch), 20);
}

TEST_F(HandMade, WithoutTheLaunchNothingIsGuessed) {
  kernel(0, 10, 20);
  builder_.add_activity(model::ActivityKind::kKernel, 30, 40, intern("k"), builder_.device(0), 7,
                        9999);
  EXPECT_EQ(at(causes({10, 40}), Cause::kUnattributed), 10);
}

TEST_F(HandMade, ExposedCommunicationBeforeTheLastArrivalIsSkew) {
  kernel(0, 10, 50, "ncclDevKernel_AllReduce_Sum", 20);
  kernel(1, 15, 20, "x_elementwise");
  timeline_ = builder_.finish();
  auto a = classified(timeline_);
  a.comm.last_arrival.assign(timeline_.activities.size(), model::kUnknownArrival);
  a.comm.last_arrival[0] = 30;
  const auto result = waterfall_of(timeline_, a, {10, 50}, {});
  EXPECT_TRUE(result.skew_known);
  EXPECT_EQ(at(result.causes, Cause::kCommSkew), 5 + 10);
  EXPECT_EQ(at(result.causes, Cause::kCommTransfer), 20);
  EXPECT_EQ(at(result.causes, Cause::kComputeMemory), 5);
}

}  // namespace
}  // namespace pyrometer::analysis
