#include "sources/replay/recorded_source.h"

#include <gtest/gtest.h>

#include <limits>
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
    EXPECT_EQ(batch.readings.size(), 1);
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

}  // namespace
}  // namespace pyrometer::sources::replay
