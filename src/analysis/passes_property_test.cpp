// Properties of the rank passes on random timelines: the order of the input does not matter, and
// parts add up to wholes.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/allocator.h"
#include "analysis/copies.h"
#include "analysis/exposed.h"
#include "analysis/host_created.h"
#include "analysis/kernel_classes.h"
#include "analysis/kernels.h"
#include "analysis/launch.h"
#include "analysis/memory_curve.h"
#include "analysis/ops.h"
#include "analysis/optimizer.h"
#include "analysis/patterns.h"
#include "analysis/steps.h"
#include "analysis/syncs.h"
#include "tests/support/random_timeline.h"

namespace pyrometer::analysis {
namespace {

model::RankAnalysis analysed(const model::RankTimeline& t) {
  model::RankAnalysis a;
  for (const auto pass : {classify_names, find_steps, tabulate_kernels, measure_ops,
                          measure_optimizer, measure_launches, measure_syncs, measure_copies,
                          find_host_created, measure_allocator, measure_memory, find_patterns}) {
    pass(t, a);
  }
  return a;
}

// Everything the passes found, with names spelled out.
std::string text_of(const model::RankTimeline& t, const model::RankAnalysis& a) {
  std::ostringstream out;
  out.precision(17);
  for (std::size_t i = 0; i < model::kFactCount; ++i) {
    const auto id = static_cast<model::FactId>(i);
    out << model::fact_info(id).id << '=';
    if (const auto value = a.facts.value(id)) {
      out << *value << '\n';
    } else {
      out << a.facts.text(id) << a.facts.missing_reason(id) << '\n';
    }
  }
  for (const auto& row : a.kernels.by_name) {
    out << t.name(row.name) << ' ' << row.stats.count << ' ' << row.stats.total << ' '
        << row.stats.p50 << ' ' << row.stats.p95 << ' ' << row.stats.max << ' ' << row.registers
        << '\n';
  }
  for (const auto& row : a.host.ops) {
    out << t.name(row.name) << ' ' << row.count << ' ' << row.host_total << ' ' << row.host_self
        << ' ' << row.device_total << ' ' << row.device_self << ' ' << row.kernels << '\n';
  }
  for (const auto& row : a.host.syncs) {
    out << t.name(row.api) << ' ' << t.name(row.op) << ' ' << t.name(row.leaf_op) << ' '
        << row.count << ' ' << row.blocked << ' ' << row.waiting_busy << ' ' << row.drained_after
        << '\n';
  }
  for (const auto& row : a.transfers.copies) {
    out << static_cast<int>(row.kind) << ' ' << static_cast<int>(row.host) << ' ' << row.stats.count
        << ' ' << row.stats.total << ' ' << row.bytes << ' ' << row.exposed << '\n';
  }
  for (const auto& sequence : a.patterns.sequences) {
    for (const auto name : sequence.kernels) out << t.name(name) << ',';
    out << sequence.count << ' ' << sequence.span_total << '\n';
  }
  return out.str();
}

class PassProperties : public ::testing::TestWithParam<int> {
 protected:
  static pyrometer::testing::RandomTimelineOptions options() {
    pyrometer::testing::RandomTimelineOptions options;
    options.devices = 1 + GetParam() % 2;
    options.launches = 40 + GetParam() * 7;
    options.steps = GetParam() % 5;
    options.host_events = GetParam() % 7 != 0;
    options.messy = GetParam() % 3 == 0;
    return options;
  }
};

TEST_P(PassProperties, TheOrderOfTheInputDoesNotMatter) {
  std::mt19937_64 random(static_cast<std::uint64_t>(GetParam()));
  auto rows = pyrometer::testing::random_rows(random, options());
  const auto first = pyrometer::testing::build(rows);
  std::shuffle(rows.begin(), rows.end(), random);
  const auto second = pyrometer::testing::build(rows);
  EXPECT_EQ(text_of(first, analysed(first)), text_of(second, analysed(second)));
}

TEST_P(PassProperties, PartsAddUp) {
  std::mt19937_64 random(static_cast<std::uint64_t>(GetParam()) + 1000);
  const auto t = pyrometer::testing::build(pyrometer::testing::random_rows(random, options()));
  const auto a = analysed(t);
  const model::DurationNs window = a.steps.window.length();

  model::DurationNs by_name = 0;
  for (const auto& row : a.kernels.by_name) by_name += row.stats.total;
  model::DurationNs by_class = 0;
  double shares = 0;
  for (const auto& row : a.kernels.by_class) {
    by_class += row.stats.total;
    shares += row.share;
  }
  EXPECT_EQ(by_name, a.kernels.all.total);
  EXPECT_EQ(by_class, a.kernels.all.total);
  if (a.kernels.all.total > 0) {
    EXPECT_NEAR(shares, 1, 1e-12);
  }

  for (const auto& row : a.host.ops) {
    EXPECT_GE(row.device_total, row.device_self);
    EXPECT_GE(row.host_self, 0);
  }
  for (const auto& row : a.host.syncs) {
    EXPECT_EQ(row.blocked, row.waiting_busy + row.waiting_idle);
    EXPECT_GE(row.drained_after, 0);
  }
  for (const auto& stats : a.host.launch) {
    EXPECT_GE(stats.queue_empty_share, 0);
    EXPECT_LE(stats.queue_empty_share, 1);
    EXPECT_LE(stats.queue_length_mean, static_cast<double>(stats.queue_length_max));
    const double mean = std::accumulate(stats.queue_curve.begin(), stats.queue_curve.end(), 0.0) /
                        static_cast<double>(std::max<std::size_t>(stats.queue_curve.size(), 1));
    if (window % 200 == 0) {
      EXPECT_NEAR(mean, stats.queue_length_mean, 1e-9 * (1 + mean));
    }
  }
  for (const auto& row : a.transfers.copies) EXPECT_LE(row.exposed, row.stats.total + window);
}

TEST_P(PassProperties, TimeAloneIsBusyTimeLessOverlap) {
  std::mt19937_64 random(static_cast<std::uint64_t>(GetParam()) + 2000);
  const auto t = pyrometer::testing::build(pyrometer::testing::random_rows(random, options()));
  const model::Interval window{0, 50'000};
  for (const model::Device& device : t.devices) {
    const auto alone = time_alone(t, device, window);
    // By definition, moment by moment, at the boundaries of activities.
    std::vector<model::TimeNs> times = {window.start, window.end};
    for (auto i = device.activities.begin; i < device.activities.end; ++i) {
      times.push_back(std::clamp(t.activities.start[i], window.start, window.end));
      times.push_back(std::clamp(t.activities.end[i], window.start, window.end));
    }
    std::sort(times.begin(), times.end());
    std::vector<model::DurationNs> expected(device.activities.size(), 0);
    for (std::size_t k = 0; k + 1 < times.size(); ++k) {
      std::vector<model::Index> running;
      for (auto i = device.activities.begin; i < device.activities.end; ++i) {
        if (t.activities.start[i] <= times[k] && t.activities.end[i] > times[k]) {
          running.push_back(i);
        }
      }
      if (running.size() == 1) {
        expected[running[0] - device.activities.begin] += times[k + 1] - times[k];
      }
    }
    EXPECT_EQ(alone, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, PassProperties, ::testing::Range(0, 40));

}  // namespace
}  // namespace pyrometer::analysis
