#include "verify/gate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "verify/random.h"

namespace pyrometer::verify {
namespace {

RunSummary run(double ms, std::uint64_t seed, int steps = 200) {
  Random random(seed);
  RunSummary out{.label = "run", .ranks = 1, .gpus = {"NVIDIA H200"}};
  Series series;
  for (int i = 0; i < steps; ++i) {
    series.push_back({.length = std::llround(ms * 1e6 * (1 + 0.1 * (random.unit() - 0.5)))});
  }
  out.steps = steps;
  out.series.push_back(std::move(series));
  out.facts.emplace_back();
  out.why_no_memory = "memory was not recorded";
  return out;
}

Baseline base_of(const std::vector<RunSummary>& runs) { return *make_baseline(runs); }

TEST(Gate, SlowdownIsPassedFailedOrNotDecided) {
  const Baseline baseline = base_of({run(20, 1), run(20.2, 2), run(19.9, 3)});
  const auto verdict = [&](const std::vector<RunSummary>& runs, double limit) {
    return judge(&baseline, runs, {.max_slowdown = limit}).verdict;
  };
  EXPECT_EQ(verdict({run(20.1, 4), run(20, 5)}, 0.05), Verdict::kPass);
  EXPECT_EQ(verdict({run(22, 4), run(22.1, 5)}, 0.05), Verdict::kFail);
  EXPECT_EQ(verdict({run(20.8, 4), run(21.2, 5)}, 0.05), Verdict::kInconclusive);
  // One run is judged by the spread of the baseline's.
  EXPECT_EQ(verdict({run(20, 4)}, 0.1), Verdict::kPass);
}

TEST(Gate, TheSameThingFailsSeldom) {
  int failed = 0;
  constexpr int kTimes = 200;
  for (std::uint64_t seed = 0; seed < kTimes; ++seed) {
    Random random(seed + 77);
    const auto any = [&] {
      return run(20 * (1 + 0.06 * (random.unit() - 0.5)), random.next(), 30);
    };
    const Baseline baseline = base_of({any(), any(), any()});
    const std::vector<RunSummary> candidates = {any(), any(), any()};
    failed += judge(&baseline, candidates, {.max_slowdown = 0.0}).verdict == Verdict::kFail;
  }
  EXPECT_LE(failed, kTimes / 20);
}

TEST(Gate, AbsentIsAnError) {
  const std::vector<RunSummary> runs = {run(20, 1)};
  const auto verdict = [&](const Limits& limits) { return judge(nullptr, runs, limits).verdict; };
  EXPECT_EQ(verdict({.max_slowdown = 1}), Verdict::kError);
  EXPECT_EQ(verdict({.max_memory = 1e12}), Verdict::kError);
  EXPECT_EQ(verdict({.max_memory_growth = 10}), Verdict::kError);
  EXPECT_EQ(verdict({.max_cost = 1e6}), Verdict::kError);  // no price
  EXPECT_EQ(verdict({.requirements = {*parse_requirement("kernels.count >= 0")}}), Verdict::kError);
  EXPECT_EQ(verdict({}), Verdict::kError);
  std::vector<RunSummary> failed = {run(20, 1)};
  failed[0].failed = 1;
  failed[0].facts[0].set(model::FactId::kKernelsCount, 5);
  EXPECT_EQ(
      judge(nullptr, failed, {.requirements = {*parse_requirement("kernels.count >= 0")}}).verdict,
      Verdict::kError);
  const Baseline other = base_of({run(20, 1)});
  std::vector<RunSummary> elsewhere = {run(20, 1)};
  elsewhere[0].gpus = {"NVIDIA A100"};
  EXPECT_EQ(judge(&other, elsewhere, {.max_slowdown = 1}).verdict, Verdict::kError);
}

TEST(Gate, MfuThatIsNotKnownIsAnError) {
  std::vector<RunSummary> runs = {run(20, 1)};
  runs[0].why_no_mfu = "the FLOPs of a sample are not known";
  const auto result = [&] { return judge(nullptr, runs, {.min_mfu = 0.4}); };
  EXPECT_EQ(result().verdict, Verdict::kError);
  EXPECT_NE(result().checks[0].reason.find("FLOPs"), std::string::npos);
  runs[0].mfu = 0.45;
  EXPECT_EQ(result().verdict, Verdict::kPass);
  runs[0].mfu = 0.35;
  EXPECT_EQ(result().verdict, Verdict::kFail);
}

TEST(Gate, RequirementsHoldOnTheWorstRank) {
  std::vector<RunSummary> runs = {run(20, 1)};
  runs[0].facts.resize(3);
  runs[0].facts[1].set(model::FactId::kInputWaitShare, 0.02);
  runs[0].facts[2].set(model::FactId::kInputWaitShare, 0.2);
  const auto verdict = [&](const char* text) {
    return judge(nullptr, runs, {.requirements = {*parse_requirement(text)}}).verdict;
  };
  EXPECT_EQ(verdict("input.wait_share < 5%"), Verdict::kFail);
  EXPECT_EQ(verdict("input.wait_share<25%"), Verdict::kPass);
  EXPECT_EQ(verdict("input.wait_share >= 10%"), Verdict::kFail);
  EXPECT_EQ(verdict("input.wait_share >= 0.01"), Verdict::kPass);
}

TEST(Gate, AFactThatOneRankLacksIsAnError) {
  std::vector<RunSummary> runs = {run(20, 1)};
  runs[0].facts.resize(3);
  runs[0].facts[1].set(model::FactId::kInputWaitShare, 0.02);
  const auto check = [&] {
    return judge(nullptr, runs, {.requirements = {*parse_requirement("input.wait_share < 5%")}})
        .checks[0];
  };
  EXPECT_EQ(check().verdict, Verdict::kError);
  runs[0].facts[2].set_missing(model::FactId::kInputWaitShare, "no loader was seen");
  EXPECT_EQ(check().verdict, Verdict::kError);
  EXPECT_NE(check().reason.find("rank 1: no loader was seen"), std::string::npos);
  runs[0].facts[1].set(model::FactId::kInputWaitShare, 0.5);
  EXPECT_EQ(check().verdict, Verdict::kError);
}

TEST(Gate, SharesAndSizesThatAreNotMeantAreRefused) {
  EXPECT_EQ(parse_share("3").error().message, "is 300% in writing: did you mean 3%?");
  EXPECT_FALSE(parse_share("1"));
  EXPECT_FALSE(parse_share("-3%"));
  EXPECT_DOUBLE_EQ(*parse_share("300%"), 3);
  EXPECT_EQ(parse_bytes("70").error().message, "has no unit: did you mean 70GiB?");
  EXPECT_FALSE(parse_bytes("-5GiB"));
  EXPECT_FALSE(parse_bytes("0GiB"));
}

TEST(Gate, CostWithoutAnIntervalIsNotDecided) {
  std::vector<RunSummary> runs = {run(20, 1, 2)};
  runs[0].usd_per_gpu_hour = 2.5;
  const GateResult result = judge(nullptr, runs, {.max_cost = 1e6});
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_EQ(result.checks[0].reason, "too few steps for an interval");
}

TEST(Gate, FieldsOfABaselineAreChecked) {
  const std::string path = (std::filesystem::temp_directory_path() / "gate_fields.json").string();
  const auto problem = [&](const char* gpus, const char* steps) {
    std::ofstream(path) << R"({"schema": "pyrometer.baseline/1", "ranks": 1, "gpus": )" << gpus
                        << R"(, "runs": [{"step_ns": 5, "steps": )" << steps << "}]}";
    const auto read = read_baseline(path);
    std::filesystem::remove(path);
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(problem(R"(["H200"])", "7"), "");
  EXPECT_EQ(problem(R"("H200")", "7"), "is no baseline: gpus is no array of strings");
  EXPECT_EQ(problem("[1]", "7"), "is no baseline: gpus is no array of strings");
  const std::string no_steps = "is no baseline: runs[0]: steps is no whole number of at least 1";
  for (const char* steps : {"0", "-3", "2.5", "null", "\"7\""}) {
    EXPECT_EQ(problem("[]", steps), no_steps) << steps;
  }
}

TEST(Gate, Words) {
  EXPECT_DOUBLE_EQ(*parse_share("3%"), 0.03);
  EXPECT_DOUBLE_EQ(*parse_share(" 0.5 "), 0.5);
  EXPECT_FALSE(parse_share("three"));
  EXPECT_DOUBLE_EQ(*parse_bytes("2GiB"), 2.0 * 1024 * 1024 * 1024);
  EXPECT_FALSE(parse_bytes("2 gigs"));
  EXPECT_DOUBLE_EQ(parse_requirement("steps.p95 <= 40 ms")->value, 40e6);
  EXPECT_FALSE(parse_requirement("steps.p95 <= 40%"));
  EXPECT_FALSE(parse_requirement("steps.p95 40"));
  EXPECT_FALSE(parse_requirement("steps.p95 <= nan"));
  EXPECT_EQ(parse_requirement("steps.p96 <= 4").error().kind, base::ErrorKind::kNotFound);
  EXPECT_NE(parse_requirement("dilation.basis == 1").error().message.find("is a text"),
            std::string::npos);
}

TEST(Gate, BaselinesReadBack) {
  std::vector<RunSummary> runs = {run(20, 1), run(21, 2)};
  runs[0].peak_memory = runs[1].peak_memory = 5e9;
  runs[0].samples_per_s = runs[1].samples_per_s = 1000;
  runs[0].samples_per_step = runs[1].samples_per_step = 20;
  const Baseline baseline = base_of(runs);
  const std::string path = (std::filesystem::temp_directory_path() / "gate_test.json").string();
  {
    std::ofstream file(path);
    ASSERT_TRUE(write_baseline(baseline, [&](std::string_view text) {
      file << text;
      return true;
    }));
  }
  const auto read = read_baseline(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_EQ(read->runs.size(), 2u);
  EXPECT_DOUBLE_EQ(read->runs[1].step_ns, baseline.runs[1].step_ns);
  EXPECT_DOUBLE_EQ(*read->runs[0].peak_memory, 5e9);
  EXPECT_EQ(read->gpus, baseline.gpus);
  EXPECT_FALSE(make_baseline(std::vector<RunSummary>{RunSummary{}}));
}

}  // namespace
}  // namespace pyrometer::verify
