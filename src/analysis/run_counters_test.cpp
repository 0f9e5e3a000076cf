#include "analysis/run_counters.h"

#include <gtest/gtest.h>

namespace pyrometer::analysis {
namespace {

constexpr model::TimeNs kSecond = 1'000'000'000;

model::RecordedRun run_of_steps(int steps, std::int64_t count = 1) {
  model::RecordedRun run;
  for (int i = 0; i < steps; ++i) {
    model::RecordedStep step;
    step.index = i * count;
    step.count = count;
    step.span = {i * kSecond, (i + 1) * kSecond};
    run.steps.push_back(step);
  }
  return run;
}

void add(model::RecordedRun& run, const char* name, std::vector<model::CounterPoint> points) {
  model::CounterSummary counter;
  counter.object = "host";
  counter.name = name;
  counter.count = static_cast<std::int64_t>(points.size());
  counter.first = points.front().value;
  counter.last = points.back().value;
  counter.points = std::move(points);
  run.counters.push_back(std::move(counter));
}

TEST(TrainingSpan, LeavesOutTheFirstStep) {
  EXPECT_EQ(training_span(run_of_steps(5)).start, kSecond);
  EXPECT_EQ(training_span(run_of_steps(5)).end, 5 * kSecond);
  EXPECT_EQ(training_span(run_of_steps(2)).start, 0);
  EXPECT_EQ(training_span(run_of_steps(2, 10)).start, kSecond / 10);  // ten steps in a row
  EXPECT_EQ(training_span({}).length(), 0);
}

TEST(RunCounters, RatesReachTheEndsOfTheWindow) {
  model::RecordedRun run;
  // Read every five seconds; the window begins and ends in between.
  add(run, "tree.cpu", {{0, 0}, {5 * kSecond, 10}, {10 * kSecond, 30}, {15 * kSecond, 30}});
  const auto rate = RunCounters(run, {4 * kSecond, 11 * kSecond}).rate("host", "tree.cpu");
  ASSERT_TRUE(rate);
  EXPECT_DOUBLE_EQ(*rate * 7 * kSecond, 22);
  EXPECT_FALSE(RunCounters(run, {4 * kSecond, 7 * kSecond}).rate("host", "tree.cpu"));
  EXPECT_FALSE(RunCounters(run, {20 * kSecond, 40 * kSecond}).rate("host", "tree.cpu"));
  EXPECT_FALSE(RunCounters(run, {0, 15 * kSecond}).rate("host", "tree.threads"));
}

TEST(RunCounters, ACounterThatBeganAnewSaysNothing) {
  model::RecordedRun run;
  add(run, "tree.cpu", {{0, 100}, {5 * kSecond, 120}, {10 * kSecond, 3}});
  EXPECT_FALSE(RunCounters(run, {0, 10 * kSecond}).rate("host", "tree.cpu"));
}

TEST(RunCounters, GaugesNeedEnoughReadings) {
  model::RecordedRun run;
  add(run, "host.cpu_busy", {{0, 9}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 9}});
  const auto gauge = RunCounters(run, {1, 5}).gauge("host", "host.cpu_busy");
  ASSERT_TRUE(gauge);
  EXPECT_EQ(gauge->mean, 3);
  EXPECT_EQ(gauge->max, 5);
  EXPECT_EQ(gauge->last, 5);
  EXPECT_FALSE(RunCounters(run, {1, 4}).gauge("host", "host.cpu_busy"));
  EXPECT_TRUE(RunCounters(run, {1, 4}).gauge("host", "host.cpu_busy", 4));
}

TEST(RunCounters, TellsTextsFromReasons) {
  model::RecordedRun run;
  run.texts.push_back({"gpu.uuid", "gpu 0", {{0, false, "GPU-1"}, {9, true, "lost"}}});
  const RunCounters counters(run, {0, 10});
  EXPECT_EQ(counters.text("gpu 0", "gpu.uuid"), "GPU-1");
  EXPECT_EQ(counters.reason("gpu 0", "gpu.uuid"), "lost");
  EXPECT_EQ(counters.text("gpu 1", "gpu.uuid"), "");
}

TEST(NumberAfter, TakesWholeNumbersAlone) {
  EXPECT_EQ(number_after("gpu 12", "gpu "), 12);
  EXPECT_FALSE(number_after("gpu 12 process 3", "gpu "));
  EXPECT_FALSE(number_after("host", "gpu "));
}

}  // namespace
}  // namespace pyrometer::analysis
