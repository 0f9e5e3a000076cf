#include "sources/replay/recorded_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/sources/source_testing.h"

namespace pyrometer::sources::replay {
namespace {

class FixedRows final : public RecordedRows {
 public:
  explicit FixedRows(std::vector<RecordedRow> rows) : rows_(std::move(rows)) {}
  base::Result<void> rewind() override {
    at_ = 0;
    return {};
  }
  base::Result<bool> next(RecordedRow& row) override {
    if (at_ == rows_.size()) return false;
    row = rows_[at_++];
    return true;
  }

 private:
  std::vector<RecordedRow> rows_;
  std::size_t at_ = 0;
};

const Subject kGpu{.scope = Scope::kDevice, .device = 3};

TEST(RecordedSource, KnowsItsObjects) {
  EXPECT_EQ(recorded_subject("gpu 3"), kGpu);
  EXPECT_EQ(recorded_subject("gpu 3 process 9"),
            (Subject{.scope = Scope::kDeviceProcess, .device = 3, .pid = 9}));
  for (const char* other : {"", "host", "gpu", "gpu x", "gpu 3 x", "gpu 3 process", "process 9",
                            "gpu 99999999999", "gpu 3 process 9 x", "gpu -1"}) {
    EXPECT_EQ(recorded_subject(other), std::nullopt) << other;
  }
}

TEST(RecordedSource, RepeatsFasterThanItWasRecorded) {
  std::int64_t now = 0;
  RecordedSource source(
      std::make_unique<FixedRows>(std::vector<RecordedRow>{
          {.time_ns = 5, .metric = "gpu.util", .object = "gpu 3", .number = 0.1},
          {.time_ns = 5, .metric = "gpu.unheard_of", .object = "gpu 3", .number = 1},
          {.time_ns = 5, .metric = "host.load1", .object = "gpu 3", .number = 1},
          {.time_ns = 10'000'000'005, .metric = "gpu.util", .object = "gpu 3", .number = 0.2},
          {.time_ns = 10'000'000'005,
           .metric = "gpu.power",
           .object = "gpu 3",
           .number = std::numeric_limits<double>::infinity()}}),
      {.speed = 10, .repeat = true, .clock = [&] { return now; }});
  ASSERT_TRUE(source.start());
  Batch batch;
  for (int round = 0; round < 3; ++round) {
    batch = {};
    ASSERT_TRUE(source.sample(0, batch));
    EXPECT_EQ(batch.readings.size(), 1U);
    EXPECT_EQ(number(batch, MetricId::kGpuUtil, kGpu), 0.1);
    now += 1'000'000'000;
    batch = {};
    ASSERT_TRUE(source.sample(0, batch));
    EXPECT_EQ(number(batch, MetricId::kGpuUtil, kGpu), 0.2);
    EXPECT_EQ(absence(batch, MetricId::kGpuPower, kGpu), Absence::kImplausible);
    EXPECT_EQ(batch.readings[0].time_ns, now);
  }
}

TEST(RecordedSource, SaysThatThereIsNothing) {
  RecordedSource source(std::make_unique<FixedRows>(std::vector<RecordedRow>{}), {});
  const auto started = source.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, base::ErrorKind::kEmpty);
}

std::unique_ptr<FixedRows> a_training() {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::vector<RecordedRow> rows;
  const auto number = [&](double second, std::string metric, std::string object, double value) {
    rows.push_back({.time_ns = static_cast<std::int64_t>(second * kSecond),
                    .metric = std::move(metric),
                    .object = std::move(object),
                    .number = value});
  };
  number(1, "gpu.index", "gpu 3", 3);
  rows.push_back({.time_ns = kSecond, .metric = "gpu.uuid", .object = "gpu 3", .text = "= GPU-a"});
  number(1, "gpu.util", "gpu 3", 0.5);
  number(1, "gpu.processes", "gpu 3", 2);
  for (const char* process : {"gpu 3 process 7", "gpu 3 process 8"}) {
    number(1.001, "gpu.process.compute", process, 1);
    rows.push_back({.time_ns = kSecond + 2'000'000,
                    .metric = "gpu.process.name",
                    .object = process,
                    .text = "= python"});
  }
  number(1.5, "gpu.util", "gpu 4", 0.25);
  number(6, "gpu.processes", "gpu 3", 1);
  number(6.001, "gpu.process.compute", "gpu 3 process 8", 1);
  for (int second = 2; second <= 20; ++second) number(second + 0.5, "gpu.util", "gpu 3", 0.5);
  number(21, "gpu.lost", "gpu 3", 1);
  number(22, "gpu.lost", "gpu 3", 1);
  std::ranges::stable_sort(rows, {}, &RecordedRow::time_ns);
  return std::make_unique<FixedRows>(std::move(rows));
}

Subject process(int pid) { return {.scope = Scope::kDeviceProcess, .device = 3, .pid = pid}; }

TEST(RecordedSource, KeepsWhatItKnowsUntilItEnds) {
  std::int64_t now = 0;
  RecordedSource source(a_training(), {.clock = [&] { return now; }});
  ASSERT_TRUE(source.start());
  const Subject other{.scope = Scope::kDevice, .device = 4};
  const auto look = [&](double second) {
    now = static_cast<std::int64_t>((second - 1) * 1e9);
    Batch batch;
    EXPECT_TRUE(source.sample(0, batch));
    return batch;
  };
  // Between two readings, and between two lists, the last count.
  const Batch early = look(3);
  EXPECT_EQ(text(early, MetricId::kGpuUuid, kGpu), "GPU-a");
  EXPECT_EQ(number(early, MetricId::kGpuUtil, kGpu), 0.5);
  EXPECT_EQ(number(early, MetricId::kGpuProcesses, kGpu), 2);
  EXPECT_EQ(text(early, MetricId::kGpuProcessName, process(7)), "python");
  EXPECT_EQ(number(early, MetricId::kGpuUtil, other), 0.25);
  const Batch cut = look(6.0005);
  EXPECT_NE(find(cut, MetricId::kGpuProcessCompute, process(8)), nullptr)
      << "the list that is being told names it again";
  const Batch later = look(7);
  EXPECT_EQ(find(later, MetricId::kGpuProcessCompute, process(7)), nullptr);
  EXPECT_EQ(text(later, MetricId::kGpuProcessName, process(8)), "python");
  const Batch without = look(15);
  EXPECT_EQ(find(without, MetricId::kGpuUtil, other), nullptr) << "old values are not of now";
  const Batch lost = look(21.5);
  EXPECT_EQ(number(lost, MetricId::kGpuLost, kGpu), 1);
  EXPECT_EQ(find(lost, MetricId::kGpuUtil, kGpu), nullptr);
  EXPECT_EQ(number(lost, MetricId::kGpuIndex, kGpu), 3);
  EXPECT_EQ(find(lost, MetricId::kGpuProcessName, process(8)), nullptr);
}

TEST(RecordedSource, BeginsLaterOrStaysAtTheEnd) {
  std::int64_t now = 0;
  const auto clock = [&] { return now; };
  Batch batch;
  RecordedSource late(a_training(), {.from_ns = 6'000'000'000, .clock = clock});
  ASSERT_TRUE(late.start());
  ASSERT_TRUE(late.sample(0, batch));
  EXPECT_EQ(find(batch, MetricId::kGpuProcessName, process(7)), nullptr);
  EXPECT_EQ(text(batch, MetricId::kGpuProcessName, process(8)), "python");
  const auto played = std::make_shared<PlayedTime>(0);
  RecordedSource end(a_training(), {.from_ns = std::nullopt, .played = played, .clock = clock});
  ASSERT_TRUE(end.start());
  EXPECT_EQ(*played, 22'000'000'000);
  for (int look = 0; look < 3; ++look, now += 1'000'000'000) {
    batch = {};
    ASSERT_TRUE(end.sample(0, batch));
    EXPECT_EQ(number(batch, MetricId::kGpuLost, kGpu), 1);
  }
  RecordedSource beyond(a_training(), {.from_ns = 60'000'000'000, .clock = clock});
  const auto started = beyond.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, base::ErrorKind::kUsage);
  EXPECT_EQ(started.error().message, "the recording's readings of GPUs end after 21 s");
}

TEST(RecordedSource, TellsOfTheDevicesThatAreWanted) {
  std::int64_t now = 0;
  RecordedSource source(a_training(), {.devices = {"GPU-a"}, .clock = [&] { return now; }});
  ASSERT_TRUE(source.start());
  now = 1'000'000'000;
  Batch batch;
  ASSERT_TRUE(source.sample(0, batch));
  EXPECT_EQ(number(batch, MetricId::kGpuUtil, kGpu), 0.5);
  EXPECT_EQ(find(batch, MetricId::kGpuUtil, {.scope = Scope::kDevice, .device = 4}), nullptr);
}

}  // namespace
}  // namespace pyrometer::sources::replay
