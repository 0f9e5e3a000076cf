// Whole diagnoses of recorded training runs with one planted cause: the first finding must name it,
// controls must have none above information, and predicted speed-ups must hold the measured ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/pass.h"
#include "analysis/what_if.h"
#include "importers/importer.h"
#include "rules/rule.h"
#include "tests/support/shared.h"

namespace pyrometer {
namespace {

struct Case {
  std::string trace;
  std::string first;   // id of the first finding above information, or "none"
  double speedup = 0;  // measured
  bool in_range = false;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.trace; }

std::vector<std::string> files_of(const std::string& folder, const std::string& trace) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(trace + ".trace.") || name.starts_with(trace + ".rank")) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Case> own_cases() {
  std::ifstream file(testing::source_dir() + "/tests/data/h200/verdicts.tsv");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#") || line.starts_with("trace\t")) continue;
    std::istringstream fields(line);
    Case c;
    std::string speedup;
    std::string range;
    std::getline(fields, c.trace, '\t');
    std::getline(fields, c.first, '\t');
    std::getline(fields, speedup, '\t');
    std::getline(fields, range, '\t');
    c.speedup = std::stod(speedup);
    c.in_range = range == "holds";
    cases.push_back(c);
  }
  return cases;
}

const model::Finding* first_above_info(const model::Diagnosis& diagnosis) {
  const auto at =
      std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                   [](const model::Finding& f) { return f.severity != model::Severity::kInfo; });
  return at == diagnosis.findings.end() ? nullptr : &*at;
}

void expect_verdict(const std::string& folder, const Case& c) {
  const auto files = files_of(folder, c.trace);
  ASSERT_FALSE(files.empty());
  const auto timeline = importers::import_paths(files, {});
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  const model::JobAnalysis job = analysis::run_passes(*timeline, {});
  const analysis::WhatIf what_if(*timeline, job);
  const model::Diagnosis diagnosis = rules::diagnose(*timeline, job, what_if);
  const model::Finding* first = first_above_info(diagnosis);
  ASSERT_EQ(first == nullptr ? "none" : first->id, c.first) << diagnosis.verdict;
  if (first == nullptr) return;
  EXPECT_FALSE(first->evidence.empty());
  if (!c.in_range) return;
  ASSERT_TRUE(first->prediction);
  EXPECT_LE(first->prediction->speedup_low(), c.speedup);
  EXPECT_GE(first->prediction->speedup_high(), c.speedup);
  // The replay must reproduce what it was made of before its predictions mean anything.
  EXPECT_LT(first->prediction->baseline_error, 0.1);
}

class OwnRecordings : public ::testing::TestWithParam<Case> {};

TEST_P(OwnRecordings, GiveTheirVerdict) {
  expect_verdict(testing::source_dir() + "/tests/data/h200", GetParam());
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) { return info.param.trace; }

INSTANTIATE_TEST_SUITE_P(H200, OwnRecordings, ::testing::ValuesIn(own_cases()), name_of);

// Reference recordings beside the checkout; speed-ups as in their measured.tsv.
class ReferenceRecordings : public ::testing::TestWithParam<Case> {};

TEST_P(ReferenceRecordings, GiveTheirVerdict) {
  const std::string folder = testing::shared_dir() + "/traces/h200";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << GetParam().trace << ": " << folder << " is absent";
  }
  expect_verdict(folder, GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    H200, ReferenceRecordings,
    ::testing::Values(Case{"healthy", "none", 1.00, false},
                      Case{"loader_serial", "input.serial_loader", 5.58, true},
                      Case{"h2d_pageable", "transfer.pageable_h2d", 2.13, true},
                      // Measured at a batch 128 times as large: step times, not samples/s.
                      Case{"launch_bound_mlp", "launch.bound", 1.58, true},
                      Case{"fp32_no_tf32", "precision.fp32_no_tf32", 6.11, true},
                      Case{"ckpt_sync", "pauses.checkpoint", 6.43, true},
                      Case{"ddp_healthy", "none", 1.00, false},
                      Case{"ddp_imbalance", "comm.skew", 1.50, true}),
    name_of);

}  // namespace
}  // namespace pyrometer
