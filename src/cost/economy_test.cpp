// Money, energy and efficiency of recorded runs.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <utility>

#include "cost/efficiency.h"
#include "cost/energy.h"
#include "cost/run_cost.h"
#include "tests/support/sample_analysis.h"

namespace pyrometer::cost {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// The sample's run, to be changed before it is looked at.
struct Recorded {
  Recorded() : sample(testing::recorded_job()) {
    run = std::make_shared<model::RecordedRun>(*sample.timeline.ranks[0].run);
    sample.timeline.ranks[0].run = run;
  }
  [[nodiscard]] JobEnergy energy(const Assumptions& assumptions = {}) const {
    return energy_of(sample.timeline, sample.job, assumptions);
  }
  [[nodiscard]] JobEfficiency efficiency(const Assumptions& assumptions = {}) const {
    return efficiency_of(sample.timeline, sample.job, sample.diagnosis, assumptions);
  }
  testing::SampleJob sample;
  std::shared_ptr<model::RecordedRun> run;
};

TEST(RunCost, BillsTheJobsGpusFromStartToEnd) {
  const Recorded recorded;
  const RunUsage usage = run_usage(recorded.sample.timeline, recorded.sample.job);
  EXPECT_EQ(usage.gpus, 1);
  EXPECT_EQ(usage.gpu_time, recorded.run->span.length());
  EXPECT_DOUBLE_EQ(usage.step_ns.value(), 31.0 * kMs);
  EXPECT_DOUBLE_EQ(usage.sample_ns.value(), 31.0 * kMs / 64);
  EXPECT_FALSE(usage.epoch_ns.has_value());
}

TEST(RunCost, BillsAGpuThatRanksShareOnce) {
  Recorded recorded;
  const RunUsage alone = run_usage(recorded.sample.timeline, recorded.sample.job);
  recorded.run->devices = {{0, "GPU-1"}};
  testing::SampleJob other = testing::recorded_job();
  other.timeline.ranks[0].run = recorded.run;
  recorded.sample.timeline.ranks.push_back(std::move(other.timeline.ranks[0]));
  recorded.sample.job.ranks.push_back(recorded.sample.job.ranks[0]);
  const auto usage = [&] { return run_usage(recorded.sample.timeline, recorded.sample.job); };
  EXPECT_EQ(usage().gpus, 1);
  EXPECT_EQ(usage().gpu_time, alone.gpu_time);
  EXPECT_DOUBLE_EQ(usage().step_ns.value(), alone.step_ns.value());
  EXPECT_DOUBLE_EQ(usage().sample_ns.value(), alone.sample_ns.value() / 2);
  EXPECT_EQ(recorded.efficiency().gpus, 1);
  recorded.run->devices = {};  // not known to be the same
  EXPECT_EQ(usage().gpus, 2);
  EXPECT_EQ(usage().gpu_time, 2 * alone.gpu_time);
}

TEST(Goodput, SlowFirstStepsAreSetUp) {
  Recorded recorded;
  auto& steps = recorded.run->steps;
  const model::RecordedStep like = steps.front();
  const model::DurationNs usual = 10 * kMs;
  const auto run = [&](model::DurationNs first) {
    steps.clear();
    model::TimeNs at = recorded.run->span.start + kMs;
    for (int i = 0; i < 30; ++i) {
      model::RecordedStep step = like;
      step.index = i;
      step.count = 1;
      step.input_wait = 0;
      step.span = {at, at + (i == 0 ? first : usual)};
      step.longest = step.span.length();
      at = step.span.end;
      steps.push_back(step);
    }
    recorded.run->regions.clear();
    recorded.run->span.end = at + kMs;
    recorded.run->steps_total = 30;
    return goodput_of(recorded.sample.timeline).setup;
  };
  EXPECT_EQ(run(usual), 0);
  EXPECT_EQ(run(80 * kMs), 70 * kMs);
}

TEST(RunCost, EpochsAreKnownWithoutValidationAlone) {
  Recorded recorded;
  recorded.run->regions = {{"epoch", 2, 1240 * kMs, 620 * kMs, 0}};
  const auto usage = [&] { return run_usage(recorded.sample.timeline, recorded.sample.job); };
  EXPECT_DOUBLE_EQ(usage().epoch_ns.value(), 620.0 * kMs);
  recorded.run->regions.push_back({"validation", 1, kMs, kMs, 0});
  EXPECT_FALSE(usage().epoch_ns.has_value());
}

TEST(RunCost, TracesAndUnknownSamplesHaveNone) {
  const testing::SampleJob trace = testing::sample_job();
  EXPECT_EQ(run_usage(trace.timeline, trace.job).gpus, 0);
  Recorded recorded;
  recorded.run->steps[3].samples = -1;
  EXPECT_FALSE(run_usage(recorded.sample.timeline, recorded.sample.job).sample_ns.has_value());
}

TEST(Energy, TheCounterCountsAndPolledPowerStandsBeside) {
  const Recorded recorded;
  const JobEnergy energy = recorded.energy();
  ASSERT_EQ(energy.gpus.size(), 1U);
  EXPECT_DOUBLE_EQ(energy.gpu_j.value(), 700);
  EXPECT_DOUBLE_EQ(energy.gpus[0].polled_j.value(), 560);
  EXPECT_TRUE(energy.diverges);  // a fifth less
  EXPECT_DOUBLE_EQ(energy.cpu_j.value(), 210);
  EXPECT_DOUBLE_EQ(energy.total_j.value(), 940);
  EXPECT_FALSE(energy.carbon_kg.has_value());
  EXPECT_FALSE(energy.carbon_missing.empty());
  EXPECT_DOUBLE_EQ(energy.sample_j.value(), energy.step_j.value() / 64);
}

TEST(Energy, AGpuThatRanksShareAndTheirMachineCountOnce) {
  Recorded recorded;
  model::Timeline& timeline = recorded.sample.timeline;
  auto second = std::make_shared<model::RecordedRun>(*recorded.run);
  testing::SampleJob other = testing::recorded_job();
  timeline.ranks.push_back(std::move(other.timeline.ranks[0]));
  timeline.ranks[1].run = second;
  timeline.ranks[1].info.rank = 1;
  recorded.sample.job.ranks.push_back(std::move(other.job.ranks[0]));
  EXPECT_EQ(recorded.energy().gpus.size(), 1U);
  EXPECT_DOUBLE_EQ(recorded.energy().cpu_j.value(), 210);
  for (model::EnergySeries& series : second->energy) {
    if (series.device >= 0) series.object = "gpu 4";
  }
  EXPECT_EQ(recorded.energy().gpus.size(), 2U);
  EXPECT_DOUBLE_EQ(recorded.energy().gpu_j.value(), 1400);
  EXPECT_DOUBLE_EQ(recorded.energy().sample_j.value(), recorded.energy().step_j.value() / 128);
  // One that is not known: the sum is not either.
  second->energy[0].missing = second->energy[1].missing = "not supported";
  EXPECT_FALSE(recorded.energy().gpu_j.has_value());
  EXPECT_FALSE(recorded.energy().step_j.has_value());
  timeline.ranks[1].info.file = "another machine";
  EXPECT_DOUBLE_EQ(recorded.energy().cpu_j.value(), 420);
}

TEST(Energy, CarbonNeedsTheGridAndTakesThePue) {
  const Recorded recorded;
  const double kwh = 940 / kJoulesPerKwh;
  EXPECT_DOUBLE_EQ(recorded.energy({.grid_g_per_kwh = 500}).carbon_kg.value(), kwh / 2);
  EXPECT_DOUBLE_EQ(recorded.energy({.pue = 1.5, .grid_g_per_kwh = 500}).carbon_kg.value(),
                   kwh * 0.75);
}

// Whatever is missing, and in whatever combination: no figure appears that stands on it, and no
// zero.
TEST(Energy, MissingIsNeverZero) {
  for (unsigned missing = 0; missing < 16; ++missing) {
    Recorded recorded;
    for (std::size_t i = 0; i < 4; ++i) {
      if ((missing >> i & 1U) == 0) continue;
      recorded.run->energy[i] = {.meter = recorded.run->energy[i].meter,
                                 .object = recorded.run->energy[i].object,
                                 .device = recorded.run->energy[i].device,
                                 .missing = "not supported"};
    }
    const JobEnergy energy = recorded.energy({.grid_g_per_kwh = 500});
    const bool gpu = (missing & 3U) != 3;
    const bool cpu = (missing & 4U) == 0;
    EXPECT_EQ(energy.gpu_j.has_value(), gpu);
    EXPECT_EQ(energy.gpu_missing.empty(), gpu);
    EXPECT_EQ(energy.cpu_j.has_value(), cpu);
    EXPECT_EQ(energy.host_missing.empty(), cpu);
    EXPECT_EQ(energy.carbon_kg.has_value(), gpu);
    for (const auto& figure : {energy.gpu_j, energy.cpu_j, energy.total_j, energy.carbon_kg}) {
      EXPECT_GT(figure.value_or(1), 0);
    }
    if (missing == 1) {  // the counter alone
      EXPECT_DOUBLE_EQ(energy.gpu_j.value(), 560);
      EXPECT_FALSE(energy.all_by_counter);
    }
  }
  Recorded none;
  none.run->energy.clear();
  EXPECT_FALSE(none.energy().gpu_j.has_value());
  EXPECT_FALSE(none.energy().host_missing.empty());
}

TEST(Efficiency, MfuIsAgainstThePeakOfTheArithmeticUsed) {
  const Recorded recorded;
  const JobEfficiency e = recorded.efficiency({.flops_per_sample = 1e10, .tokens_per_sample = 100});
  EXPECT_NEAR(e.tokens_per_s.value(), 6400 / 0.031, 1e-4);
  ASSERT_TRUE(e.mfu.has_value()) << e.mfu_missing;
  EXPECT_DOUBLE_EQ(e.flops_per_sample.value(), 1e10);
  EXPECT_NEAR(e.samples_per_s.value(), 64 / 0.031, 1e-6);
  EXPECT_NEAR(e.tflops_per_gpu.value(), 0.64 / 0.031, 1e-6);
  EXPECT_NEAR(*e.mfu, *e.tflops_per_gpu / e.peak->tflops, 1e-12);
  EXPECT_NEAR(e.peak_samples_per_s.value(), e.peak->tflops * 1e12 / 1e10, 1e-3);
  EXPECT_NEAR(e.eta.value(),
              *e.samples_per_s * *e.utilization / (*e.peak_samples_per_s * *e.attainable), 1e-12);
  EXPECT_GE(*e.attainable, *e.utilization);
  EXPECT_FALSE(e.impossible);
}

TEST(Efficiency, AnUnknownGpuHasNoPeakAndNoMfu) {
  Recorded recorded;
  for (model::Device& device : recorded.sample.timeline.ranks[0].devices) device.name += " Ti";
  const JobEfficiency e = recorded.efficiency({.flops_per_sample = 1e10});
  EXPECT_FALSE(e.peak.has_value());
  EXPECT_FALSE(e.mfu.has_value());
  EXPECT_NE(e.mfu_missing.find("is not in the table of GPUs"), std::string::npos);
}

TEST(Efficiency, FlopsAreSaidOrMissing) {
  const Recorded recorded;
  EXPECT_FALSE(recorded.efficiency().mfu.has_value());
  EXPECT_NE(recorded.efficiency().mfu_missing.find("--flops-per-sample"), std::string::npos);
  const Assumptions said{.flops_per_sample = 2e10, .flops_source = "said"};
  EXPECT_EQ(recorded.efficiency(said).flops_source, "said");
}

TEST(Efficiency, CountedFlopsGoBeforeSaidOnes) {
  Recorded recorded;
  recorded.run->info["flops.step"] = "640000000000";
  recorded.run->info["flops.samples"] = "64";
  const Assumptions said{.flops_per_sample = 2e10, .flops_source = "said"};
  EXPECT_DOUBLE_EQ(recorded.efficiency(said).flops_per_sample.value(), 1e10);
  EXPECT_EQ(recorded.efficiency(said).flops_source, "counted on one step of the run");
  recorded.run->info["flops.step"] = "nan";
  EXPECT_DOUBLE_EQ(recorded.efficiency(said).flops_per_sample.value(), 2e10);
  recorded.run->info = {{"flops.missing", "torch.compile is used"}};
  EXPECT_NE(recorded.efficiency().mfu_missing.find("torch.compile is used"), std::string::npos);
}

TEST(Efficiency, MoreThanThePeakIsFlagged) {
  EXPECT_TRUE(Recorded().efficiency({.flops_per_sample = 1e13}).impossible);
}

TEST(Efficiency, MixedArithmeticHasAMixedPeak) {
  Recorded recorded;
  std::vector<model::ClassRow>& rows = recorded.sample.job.ranks[0].kernels.by_class;
  rows.clear();
  const auto add = [&](model::MathType math, std::int64_t time) {
    model::ClassRow row{.klass = model::KernelClass::kGemm, .math = math};
    row.stats.total = time;
    rows.push_back(row);
  };
  add(model::MathType::kBf16, 60);
  add(model::MathType::kFp32, 40);
  const auto peak = [&] {
    return peak_of(recorded.sample.timeline.ranks[0], recorded.sample.job.ranks[0]);
  };
  ASSERT_TRUE(peak().peak.has_value()) << peak().missing;
  EXPECT_NEAR(peak().peak->tflops, 0.6 * 989.5 + 0.4 * 67, 1);
  EXPECT_EQ(peak().peak->dtype, "bf16 60%, fp32 40%");
  add(model::MathType::kUnknown, 100);
  EXPECT_FALSE(peak().peak.has_value());
  rows.clear();
  add(model::MathType::kBf16, 99);
  add(model::MathType::kFp32, 1);
  EXPECT_EQ(peak().peak->dtype, "bf16");
  rows.clear();
  EXPECT_FALSE(peak().peak.has_value());
}

// The parts add up to the whole, however pauses overlap.
TEST(Goodput, PartsAddUpToTheElapsedTime) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    Recorded recorded;
    const auto time = [&] { return static_cast<std::int64_t>(random() % (900 * kMs)); };
    recorded.run->regions.clear();
    for (const char* kind : {"checkpoint", "validation", "compile", "gc", "loader_start"}) {
      if (random() % 2 == 0) recorded.run->regions.push_back({kind, 1, time(), 1, 0});
    }
    recorded.run->span.start = recorded.run->steps.front().span.start - time();
    const Goodput g = goodput_of(recorded.sample.timeline);
    ASSERT_TRUE(g.missing.empty());
    const model::DurationNs parts = g.useful + g.startup + g.setup + g.input + g.checkpoint +
                                    g.validation + g.pauses + g.between + g.after;
    EXPECT_EQ(parts, g.elapsed);
    EXPECT_GE(g.useful, 0);
  }
}

TEST(Goodput, IsUnknownForTracesAndWithoutSteps) {
  EXPECT_FALSE(goodput_of(testing::sample_job().timeline).missing.empty());
  EXPECT_FALSE(goodput_of(testing::running_job().timeline).missing.empty());
}

}  // namespace
}  // namespace pyrometer::cost
