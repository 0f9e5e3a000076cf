#include "cost/price.h"

#include <gtest/gtest.h>

#include <random>

namespace pyrometer::cost {
namespace {

constexpr model::DurationNs kSecond = 1'000'000'000;

// Ranks with one device each unless said otherwise, windows of one second, `steps` steps.
model::JobAnalysis job_of(int ranks, int devices, int steps) {
  model::JobAnalysis job;
  job.ranks.resize(static_cast<std::size_t>(ranks));
  for (model::RankAnalysis& rank : job.ranks) {
    rank.waterfall.devices.resize(static_cast<std::size_t>(devices));
    for (model::DeviceWaterfall& device : rank.waterfall.devices) {
      device.window = {0, kSecond};
      device.steps.resize(static_cast<std::size_t>(steps));
      for (model::CauseTimes& step : device.steps) at(step, model::Cause::kIdleHost) = kSecond / 10;
    }
  }
  return job;
}

TEST(Price, CountsTheDevicesThatRanAndNoOthers) {
  model::JobAnalysis job = job_of(2, 2, 10);
  job.ranks[1].waterfall.devices[1].window = {};
  const Usage usage = usage_of(job);
  EXPECT_EQ(usage.gpus, 3);
  EXPECT_EQ(usage.gpu_time, 3 * kSecond);
  EXPECT_EQ(usage.gpu_steps, 30);
  EXPECT_DOUBLE_EQ(usage.step_ns().value(), 1e8);
}

TEST(Price, WithoutStepsThereIsNoStepTime) {
  EXPECT_FALSE(usage_of(job_of(1, 1, 0)).step_ns().has_value());
  EXPECT_EQ(usage_of(job_of(0, 0, 0)).gpus, 0);
}

TEST(Price, AGpuHourCostsThePrice) {
  const Price price{2.5, "--price"};
  EXPECT_DOUBLE_EQ(usd(3600.0 * kSecond, price), 2.5);
  EXPECT_DOUBLE_EQ(usd_per_day(1, 8, price), 480);
  EXPECT_DOUBLE_EQ(usd_per_day(0.25, 8, price), 120);
  // 1000 steps of 0.36 s on ten GPUs are one GPU-hour.
  EXPECT_DOUBLE_EQ(usd_per_1000_steps(0.36e9, 10, price), 2.5);
}

TEST(Price, PartsOfTheTimeCostPartsOfTheMoney) {
  std::mt19937_64 random(3);
  const Price price{1.99, "--price"};
  for (int round = 0; round < 200; ++round) {
    model::CauseTimes causes{};
    for (model::DurationNs& time : causes) time = static_cast<model::DurationNs>(random() >> 16);
    double sum = 0;
    for (const model::DurationNs time : causes) sum += usd(static_cast<double>(time), price);
    const double whole = usd(static_cast<double>(model::total(causes)), price);
    EXPECT_NEAR(sum, whole, 1e-12 * whole);
  }
}

TEST(Price, ASavingRunsFromTheWorstToTheBestCase) {
  const model::Prediction prediction{
      .low_ns = 10e6, .mid_ns = 12e6, .high_ns = 15e6, .baseline_ns = 20e6};
  const Saving saving = saving_of(prediction);
  EXPECT_DOUBLE_EQ(saving.share.low, 0.25);
  EXPECT_DOUBLE_EQ(saving.share.high, 0.5);
  EXPECT_DOUBLE_EQ(saving.step_ns.low, 5e6);
  EXPECT_DOUBLE_EQ(saving.step_ns.high, 10e6);
}

TEST(Price, WhatGetsSlowerSavesNothing) {
  const Saving saving = saving_of({.low_ns = 19e6, .high_ns = 23e6, .baseline_ns = 20e6});
  EXPECT_EQ(saving.share.low, 0);
  EXPECT_DOUBLE_EQ(saving.share.high, 0.05);
  EXPECT_EQ(saving_of({}).share.high, 0);  // nothing is known of the baseline
}

}  // namespace
}  // namespace pyrometer::cost
