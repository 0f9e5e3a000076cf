// Step by step, with events that come late and out of order, the sums are those of the whole run.
#include "monitor/segmenter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/kernel_classes.h"
#include "analysis/waterfall.h"
#include "recording/timeline_rows.h"

namespace pyrometer::monitor {
namespace {

using model::Interval;
using model::TimeNs;
using recording::ActivityRow;
using recording::ApiCallRow;
using recording::DetailRows;
using recording::RangeRow;
using recording::RangeType;

constexpr TimeNs kMs = 1'000'000;
constexpr TimeNs kStart = 50'000 * kMs;

struct SimulatedRun {
  recording::NameTable names;
  std::unordered_map<std::uint32_t, recording::ConfigRow> configs;
  recording::ProcessRow process;
  std::vector<recording::DeviceRow> devices;
  CaptureLog capture;
  DetailRows rows;
  std::vector<Interval> steps;

  explicit SimulatedRun(unsigned seed, int step_count = 60) {
    std::mt19937 random(seed);
    const auto up_to = [&random](TimeNs most) {
      return static_cast<TimeNs>(random() % static_cast<unsigned>(most));
    };
    process.id = 1;
    process.pid = 42;
    capture.add(kStart - kMs, true, ring::CaptureReason::kStarted);
    const auto kernel = names.intern("void at::native::vectorized_elementwise_kernel<4>()");
    const auto gemm = names.intern("sm90_xmma_gemm_bf16bf16_tn");
    const auto launch = names.intern("cudaLaunchKernel");
    const auto sync = names.intern("cudaStreamSynchronize");
    TimeNs host = kStart;
    TimeNs device = kStart;
    std::uint32_t id = 1;
    for (int step = 0; step < step_count; ++step) {
      const TimeNs begin = host;
      if (random() % 3 == 0) {
        const TimeNs wait = up_to(20 * kMs);
        rows.ranges.push_back(
            {.start = host, .end = host + wait, .b = 0, .thread = 42, .type = RangeType::kInput});
        host += wait;
      }
      const int kernels = 1 + static_cast<int>(random() % 12);
      for (int k = 0; k < kernels; ++k) {
        rows.api_calls.push_back(
            {.start = host, .end = host + 5000, .name = launch, .thread = 42, .correlation = id});
        host += 5000 + up_to(kMs);
        const TimeNs from = std::max(device, rows.api_calls.back().start + 3000 + up_to(20000));
        device = from + up_to(3 * kMs);
        rows.activities.push_back({.start = from,
                                   .end = device,
                                   .name = random() % 2 == 0 ? kernel : gemm,
                                   .correlation = id,
                                   .stream = 7});
        ++id;
      }
      if (random() % 4 == 0) {
        const TimeNs until = std::max(host, device) + up_to(kMs);
        rows.api_calls.push_back(
            {.start = host, .end = until, .name = sync, .thread = 42, .correlation = id++});
        host = until;
      }
      host += up_to(2 * kMs) + 1;
      steps.push_back({begin, host});
      rows.ranges.push_back(
          {.start = begin, .end = host, .a = step, .b = 8, .thread = 42, .type = RangeType::kStep});
    }
  }

  [[nodiscard]] SegmenterContext context() const {
    return {names, configs, process, devices, capture};
  }

  // What the passes make of the whole at once.
  [[nodiscard]] std::vector<model::CauseTimes> whole() const {
    const auto timeline =
        recording::make_timeline({rows, names, configs, process, devices}, recording::TimeMap());
    model::RankAnalysis analysis;
    analysis::classify_names(timeline, analysis);
    const Interval window{steps.front().start, steps.back().end};
    return analysis::waterfall_of(timeline, analysis, window, steps).devices.at(0).steps;
  }
};

// Feeds a run to a segmenter as a ring would: ranges and calls at once, activities at flushes.
std::vector<model::RecordedStep> feed(const SimulatedRun& run, unsigned seed,
                                      std::vector<Segment>& kept) {
  std::mt19937 random(seed);
  std::vector<model::RecordedStep> out;
  Segmenter segmenter(
      run.context(), [&out](const model::RecordedStep& step) { out.push_back(step); },
      [&kept](Segment segment) { kept.push_back(std::move(segment)); });
  struct Arrival {
    TimeNs time;
    int kind;
    std::size_t row;
  };
  std::vector<Arrival> arrivals;
  for (std::size_t i = 0; i < run.rows.activities.size(); ++i) {
    const TimeNs flush = run.rows.activities[i].end + static_cast<TimeNs>(random() % 400) * kMs;
    arrivals.push_back({flush, 0, i});
  }
  for (std::size_t i = 0; i < run.rows.api_calls.size(); ++i) {
    const TimeNs flush = run.rows.api_calls[i].end + static_cast<TimeNs>(random() % 400) * kMs;
    arrivals.push_back({flush, 1, i});
  }
  for (std::size_t i = 0; i < run.rows.ranges.size(); ++i) {
    arrivals.push_back({run.rows.ranges[i].end, 2, i});
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const Arrival& a, const Arrival& b) { return a.time < b.time; });
  TimeNs next_look = kStart;
  for (const Arrival& one : arrivals) {
    while (next_look <= one.time) {
      segmenter.advance(next_look);
      next_look += 100 * kMs + static_cast<TimeNs>(random() % 900) * kMs;
    }
    if (one.kind == 0) segmenter.add_activity(run.rows.activities[one.row]);
    if (one.kind == 1) segmenter.add_call(run.rows.api_calls[one.row]);
    if (one.kind == 2) segmenter.add_range(run.rows.ranges[one.row]);
  }
  segmenter.finish();
  EXPECT_EQ(segmenter.late(), 0);
  return out;
}

TEST(Segmenter, GivesEachStepTheWaterfallOfTheWholeRun) {
  for (unsigned seed = 1; seed <= 25; ++seed) {
    const SimulatedRun run(seed);
    const auto expected = run.whole();
    std::vector<Segment> kept;
    std::size_t next = 0;
    for (const model::RecordedStep& step : feed(run, seed + 100, kept)) {
      if (step.count == 0) continue;
      ASSERT_LT(next, expected.size());
      EXPECT_TRUE(step.captured);
      EXPECT_EQ(step.index, static_cast<std::int64_t>(next));
      EXPECT_EQ(step.span, run.steps[next]);
      EXPECT_EQ(model::total(step.causes), step.span.length());
      EXPECT_EQ(step.causes, expected[next]) << "seed " << seed << " step " << next;
      ++next;
    }
    EXPECT_EQ(next, expected.size());
  }
}

TEST(Segmenter, HandsEveryEventOverOnce) {
  const SimulatedRun run(3);
  std::vector<Segment> kept;
  (void)feed(run, 9, kept);
  std::size_t activities = 0;
  std::size_t calls = 0;
  TimeNs end = 0;
  for (const Segment& segment : kept) {
    EXPECT_GE(segment.span.start, end);
    end = segment.span.end;
    activities += segment.rows.activities.size();
    calls += segment.rows.api_calls.size();
  }
  EXPECT_EQ(activities, run.rows.activities.size());
  EXPECT_EQ(calls, run.rows.api_calls.size());
}

TEST(Segmenter, StepsThatWereNotWatchedHaveNoCauses) {
  SimulatedRun run(5);
  const TimeNs off = run.steps[20].start + 10;
  const TimeNs on = run.steps[40].start + 10;
  run.capture.add(off, false, ring::CaptureReason::kDutyCycle);
  run.capture.add(on, true, ring::CaptureReason::kDutyCycle);
  std::vector<Segment> kept;
  for (const model::RecordedStep& step : feed(run, 1, kept)) {
    if (step.count == 0) continue;
    EXPECT_EQ(step.captured, step.index < 20 || step.index > 40) << step.index;
    if (!step.captured) {
      EXPECT_EQ(model::total(step.causes), 0);
    }
  }
  for (const Segment& segment : kept) {
    EXPECT_TRUE(segment.span.end <= off || segment.span.start >= on);
  }
}

TEST(Segmenter, SlicesTimeWhereNoStepsAreMarked) {
  SimulatedRun run(6);
  std::erase_if(run.rows.ranges, [](const RangeRow& row) { return row.type == RangeType::kStep; });
  std::vector<Segment> kept;
  TimeNs at = 0;
  for (const model::RecordedStep& slice : feed(run, 2, kept)) {
    EXPECT_EQ(slice.count, 0);
    if (at != 0) {
      EXPECT_EQ(slice.span.start, at);
    }
    at = slice.span.end;
    EXPECT_EQ(model::total(slice.causes), slice.captured ? slice.span.length() : 0);
  }
  EXPECT_GT(at, 0);
}

TEST(Segmenter, HoldsLittleHoweverLongTheRun) {
  const SimulatedRun run(8, 3000);
  std::size_t most = 0;
  Segmenter segmenter(
      run.context(), [](const model::RecordedStep&) {}, [](Segment) {});
  std::size_t a = 0;
  std::size_t c = 0;
  for (const RangeRow& range : run.rows.ranges) {
    segmenter.add_range(range);
    if (range.type != RangeType::kStep) continue;
    for (; a < run.rows.activities.size() && run.rows.activities[a].start < range.end; ++a) {
      segmenter.add_activity(run.rows.activities[a]);
    }
    for (; c < run.rows.api_calls.size() && run.rows.api_calls[c].start < range.end; ++c) {
      segmenter.add_call(run.rows.api_calls[c]);
    }
    segmenter.advance(range.end);
    most = std::max(most, segmenter.held_rows());
  }
  EXPECT_LT(most, 4000U);
}

}  // namespace
}  // namespace pyrometer::monitor
