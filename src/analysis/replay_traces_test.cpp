// The replay on recorded runs: how well it explains each step, what it says the run takes without
// the profiler, and what it predicts for the planted cause's fix, against what was measured.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "analysis/pass.h"
#include "analysis/what_if.h"
#include "importers/importer.h"
#include "tests/support/shared.h"

namespace pyrometer::analysis {
namespace {

using model::KernelClass;

struct Job {
  model::Timeline timeline;
  model::JobAnalysis analysis;
};

std::unique_ptr<Job> load(const std::vector<std::string>& files) {
  auto timeline = importers::import_paths(files, {1, nullptr});
  if (!timeline) return nullptr;
  auto job = std::make_unique<Job>();
  job->timeline = std::move(*timeline);
  job->analysis = run_passes(job->timeline, {1});
  return job;
}

std::string h200(const std::string& name) {
  return testing::shared_dir() + "/traces/h200/" + name + ".trace.json.gz";
}

// A case's files: one, or one per rank.
std::vector<std::string> files_of(const std::string& name) {
  if (std::filesystem::exists(h200(name))) return {h200(name)};
  return {h200(name + ".rank0"), h200(name + ".rank1")};
}

struct Measured {
  double planted_ms = 0;  // without any profiler, mean of two runs
  double low_ms = 0, high_ms = 0;
  double speedup = 0;
};

// Rows of measured.tsv by trace.
std::map<std::string, Measured> measured_runs() {
  std::map<std::string, Measured> runs;
  std::ifstream file(testing::shared_dir() + "/traces/h200/measured.tsv");
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#' || line.starts_with("trace\t")) continue;
    std::vector<std::string> fields;
    std::stringstream row(line);
    for (std::string field; std::getline(row, field, '\t');) fields.push_back(field);
    if (fields.size() < 5) continue;
    Measured run;
    const std::size_t comma = fields[2].find(',');
    const double first = std::stod(fields[2].substr(0, comma));
    const double second = std::stod(fields[2].substr(comma + 1));
    run.planted_ms = (first + second) / 2;
    run.low_ms = std::min(first, second);
    run.high_ms = std::max(first, second);
    run.speedup = std::stod(fields[4]);
    runs[fields[0]] = run;
  }
  return runs;
}

class Recorded : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const std::string& file : files_of(GetParam())) {
      if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
    }
    job_ = load(files_of(GetParam()));
    ASSERT_NE(job_, nullptr);
  }
  std::unique_ptr<Job> job_;
};

TEST_P(Recorded, EdgesExplainTheStep) {
  const WhatIf what_if(job_->timeline, job_->analysis);
  ASSERT_TRUE(what_if.available()) << what_if.baseline().unavailable;
  EXPECT_LT(what_if.baseline().error, 0.04);
  // With each call's own delays nothing is left.
  EXPECT_NEAR(what_if.step_ns({}, 0), what_if.baseline().measured_ns,
              1e-3 * what_if.baseline().measured_ns);
}

TEST_P(Recorded, KnowsTheStepWithoutTheProfiler) {
  const WhatIf what_if(job_->timeline, job_->analysis);
  const model::ReplayBaseline& b = what_if.baseline();
  const Measured run = measured_runs().at(GetParam());
  std::printf(
      "%-18s trace %8.3f  replayed %8.3f (%.2f%%)  without profiler %8.3f [%8.3f, %8.3f]  measured "
      "%8.3f [%8.3f, %8.3f]\n",
      GetParam(), b.measured_ns / 1e6, b.replayed_ns / 1e6, 100 * b.error, b.corrected_ns / 1e6,
      b.corrected_low_ns / 1e6, b.corrected_high_ns / 1e6, run.planted_ms, run.low_ms, run.high_ms);
  // Within 12%, or the ranges of the estimate and of the two runs meet.
  const bool close = std::abs(b.corrected_ns / 1e6 / run.planted_ms - 1) < 0.12;
  const bool meet =
      b.corrected_low_ns / 1e6 <= run.high_ms && b.corrected_high_ns / 1e6 >= run.low_ms;
  EXPECT_TRUE(close || meet);
}

INSTANTIATE_TEST_SUITE_P(H200, Recorded,
                         ::testing::Values("healthy", "loader_serial", "launch_bound_mlp",
                                           "fp32_no_tf32", "ckpt_sync", "ddp_healthy",
                                           "ddp_imbalance"));

// Here the run without the profiler was slower than the one with it: 38 and 45 ms against 35.
// Copies from pageable memory depend on what else the host's memory is doing.
TEST(RecordedPageable, EdgesExplainTheStep) {
  if (!std::filesystem::exists(h200("h2d_pageable"))) GTEST_SKIP() << h200("h2d_pageable");
  const auto job = load({h200("h2d_pageable")});
  ASSERT_NE(job, nullptr);
  const WhatIf what_if(job->timeline, job->analysis);
  EXPECT_LT(what_if.baseline().error, 0.04);
  EXPECT_NEAR(what_if.baseline().corrected_ns, 35e6, 1e6);
}

// What a fix changes at best, as expected and at worst.
struct Fix {
  const char* trace;
  std::function<Edit(int)> edit;
};

Edit workers(int k) {
  Edit edit;
  edit.loader_workers = k == 2 ? 4 : 8;
  edit.copies_async = true;
  return edit;
}

Edit pinned(int k) {
  Edit edit;
  edit.copies_async = true;
  edit.h2d_overlapped = k == 0;
  const std::array<double, 3> link{54.7, 50, 25};  // GB/s, against 6.2 from pageable memory
  edit.h2d_time = 6.2 / link[static_cast<std::size_t>(k)];
  return edit;
}

Edit bf16(int k) {
  const auto i = static_cast<std::size_t>(k);
  const auto is_matrix = [](const model::KernelTraits& traits) {
    return traits.klass == KernelClass::kGemm || traits.klass == KernelClass::kConv ||
           traits.klass == KernelClass::kAttention;
  };
  Edit edit;
  Edit::KernelScale matrix;
  matrix.applies = [=](const model::KernelTraits& traits, model::NameId) {
    return is_matrix(traits);
  };
  const std::array<double, 3> achieved{1, 0.6, 0.4};  // of the ratio of peaks: 67 to 989 TFLOP/s
  matrix.time = 67.0 / 989 / achieved[i];
  Edit::KernelScale memory;
  memory.applies = [=](const model::KernelTraits& traits, model::NameId) {
    return !is_matrix(traits) && traits.klass != KernelClass::kOptimizer;
  };
  const std::array<double, 3> bytes{0.5, 0.7, 1};
  memory.time = bytes[i];
  edit.kernels = {matrix, memory};
  return edit;
}

Edit no_checkpoint(int k) {
  Edit edit;
  edit.checkpoint = k == 2 ? 0.05 : 0;
  return edit;
}

Edit balanced(int k) {
  Edit edit;
  edit.no_skew = true;
  edit.skew_to_fastest = 1 - 0.5 * k;
  return edit;
}

class Predicted : public ::testing::TestWithParam<Fix> {};

TEST_P(Predicted, RangeHoldsTheMeasuredSpeedup) {
  const Fix& fix = GetParam();
  for (const std::string& file : files_of(fix.trace)) {
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  }
  const auto job = load(files_of(fix.trace));
  ASSERT_NE(job, nullptr);
  const WhatIf what_if(job->timeline, job->analysis);
  const model::Prediction p = what_if.predict(fix.edit(0), fix.edit(1), fix.edit(2), "test");
  const double measured = measured_runs().at(fix.trace).speedup;
  std::printf("%-18s %8.3f -> %8.3f ms: predicted %.2f [%.2f, %.2f]  measured %.2f\n", fix.trace,
              p.baseline_ns / 1e6, p.mid_ns / 1e6, p.baseline_ns / p.mid_ns, p.speedup_low(),
              p.speedup_high(), measured);
  EXPECT_LE(p.speedup_low(), measured);
  EXPECT_GE(p.speedup_high(), measured);
}

INSTANTIATE_TEST_SUITE_P(H200, Predicted,
                         ::testing::Values(Fix{"loader_serial", workers},
                                           Fix{"h2d_pageable", pinned}, Fix{"fp32_no_tf32", bf16},
                                           Fix{"ckpt_sync", no_checkpoint},
                                           Fix{"ddp_imbalance", balanced}),
                         [](const auto& test) { return std::string(test.param.trace); });

// Batches made on the device instead of on the CPU. Measured: 1.58 times, with runs of 1.24
// and 1.54 ms against 0.78 and 0.99. The trace shows 0.22 ms of 2.19 for making and copying a
// batch, so the prediction stays below: the rest of the difference is not in what was taken away.
TEST(PredictedLaunchBound, GainsWhatTheTraceShows) {
  if (!std::filesystem::exists(h200("launch_bound_mlp"))) GTEST_SKIP() << h200("launch_bound_mlp");
  const auto job = load({h200("launch_bound_mlp")});
  ASSERT_NE(job, nullptr);
  const WhatIf what_if(job->timeline, job->analysis);
  Edit edit;
  edit.copies_async = true;
  edit.copy_feeding_ops = edit.copy_host = edit.h2d_time = 0;
  const model::Prediction p = what_if.predict(edit, edit, edit, "test");
  EXPECT_GT(p.speedup_high(), 1.15);
  EXPECT_LT(p.speedup_high(), 1.58);
}

class PublicTraces : public ::testing::TestWithParam<const char*> {};

TEST_P(PublicTraces, EdgesExplainTheStep) {
  const std::string file = testing::shared_dir() + "/traces/public/" + GetParam();
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  const auto job = load({file});
  ASSERT_NE(job, nullptr);
  const WhatIf what_if(job->timeline, job->analysis);
  if (!what_if.available()) {
    EXPECT_TRUE(job->analysis.ranks[0].steps.steps.empty() ||
                !what_if.baseline().unavailable.empty());
    return;
  }
  std::printf("%s: %lld steps, %.2f%%\n", GetParam(),
              static_cast<long long>(what_if.baseline().steps), 100 * what_if.baseline().error);
  EXPECT_LT(what_if.baseline().error, 0.05);
}

INSTANTIATE_TEST_SUITE_P(
    All, PublicTraces,
    ::testing::Values(
        "hta__amd_trace__mi250_minitoy_train_ROCm6_2_kineto.trace.json.gz",
        "hta__critical_path__alexnet__benchmark_result_2869224_1695835535_trace.trace.json.gz",
        "hta__df_index_resolver__df_index_resolver.trace.json.gz",
        "hta__nccl_parser_config__nccl_data.trace.json.gz",
        "hta__ns_resolution_trace__rank-0.Apr_03_18_51_38.1102.pt.trace.trace.json.gz",
        "hta__trace_filter__sampled_rank-0.trace.json.gz",
        "hta__trace_filter__sampled_rank-1.trace.json.gz",
        "hta__triton_example__triton_example.trace.json.gz",
        "hta__with_gpu_user_annotation__step_based_trace_2543932.trace.json.gz",
        "kineto__tb_plugin__samples__resnet50_num_workers_0__worker0.pt.trace__d3fb407.trace.json."
        "gz",
        "param__dlrm_kineto__worker0_step_12.1694128201545.pt.trace.trace.json.gz",
        "param__dlrm_kineto__worker7_step_12.1694128201553.pt.trace.trace.json.gz",
        "param__resnet_kineto.trace.json.gz",
        "tracelens__h100__gaunernst_bert-small-uncased__1016001.trace.json.gz",
        "tracelens__inference__vllm_decode_full__graph_execution.trace.json.gz",
        "tracelens__mi300__resnet_act_checkpoint.trace.json.gz",
        "tracelens__torch_compile_triton__trace.trace.json.gz"));

}  // namespace
}  // namespace pyrometer::analysis
