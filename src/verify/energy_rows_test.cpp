#include "verify/energy_rows.h"

#include <gtest/gtest.h>

namespace pyrometer::verify {
namespace {

constexpr model::TimeNs kSecond = 1'000'000'000;

// Steps of 100 ms with eight samples, from second 2 on.
Series steps(int count, std::int64_t samples = 8) {
  Series out;
  for (int i = 0; i < count; ++i) {
    out.push_back(
        {.start = 2 * kSecond + i * kSecond / 10, .length = kSecond / 10, .samples = samples});
  }
  return out;
}

// A meter that is read each `period` seconds within [0, end), at `watts`.
model::EnergySeries meter(const char* name, int device, int period, int end, double watts) {
  model::EnergySeries out{.meter = name, .object = "gpu 0", .device = device};
  for (int at = 0; at + period <= end; at += period) {
    out.windows.push_back({{at * kSecond, (at + period) * kSecond}, watts * period});
  }
  return out;
}

TEST(EnergyRows, JoulesPerSample) {
  model::RecordedRun run;
  run.energy = {meter("counter", 0, 5, 40, 400), meter("polled", 0, 1, 40, 300)};
  const EnergyRows rows = energy_rows(run, {0}, steps(300));
  EXPECT_EQ(rows.missing, "");
  ASSERT_EQ(rows.rows.size(), 1u);
  EXPECT_EQ(rows.rows[0].size(), 7u);  // 2–5, 5–10 … 30–32
  ASSERT_TRUE(rows.per_sample());
  EXPECT_NEAR(*rows.per_sample(), 400 * 0.1 / 8, 1e-9);
}

TEST(EnergyRows, PolledPowerWhereTheCounterIsNotReadInTime) {
  model::RecordedRun run;
  run.energy = {meter("counter", 0, 5, 5, 400), meter("polled", 0, 1, 10, 300)};
  EXPECT_NEAR(*energy_rows(run, {0}, steps(70)).per_sample(), 300 * 0.1 / 8, 1e-9);
  run.energy[1] = meter("polled", 0, 1, 4, 300);
  EXPECT_EQ(energy_rows(run, {0}, steps(70)).missing,
            "readings of energy cover too little of the steps' time");
}

TEST(EnergyRows, SeveralGpusAddUp) {
  model::RecordedRun run;
  run.energy = {meter("counter", 0, 5, 40, 400), meter("counter", 1, 2, 30, 100)};
  const EnergyRows rows = energy_rows(run, {0, 1}, steps(300));
  EXPECT_NEAR(*rows.per_sample(), 500 * 0.1 / 8, 1e-9);
}

TEST(EnergyRows, MissingIsNotZero) {
  model::RecordedRun run;
  EXPECT_EQ(energy_rows(run, {}, steps(10)).missing, "no GPU was used");
  EXPECT_EQ(energy_rows(run, {0}, {}).missing, "no steps were found");
  EXPECT_EQ(energy_rows(run, {0}, steps(10, -1)).missing, "the samples of a step are not known");
  EXPECT_EQ(energy_rows(run, {0}, steps(10)).missing, "the recording has no readings of energy");
  run.energy = {meter("counter", 0, 5, 40, 400)};
  run.energy[0].missing = "the meter began anew during the run";
  const EnergyRows rows = energy_rows(run, {0}, steps(10));
  EXPECT_EQ(rows.missing, "the meter began anew during the run");
  EXPECT_FALSE(rows.per_sample());
}

}  // namespace
}  // namespace pyrometer::verify
