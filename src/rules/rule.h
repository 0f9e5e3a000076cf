// A rule judges one kind of waste from facts. All rules stand in the list in registry.cpp.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/what_if.h"
#include "model/analysis.h"
#include "model/finding.h"
#include "model/timeline.h"

namespace pyrometer::rules {

// What a rule may look at. Names are for text only: a rule never reads a trace's events.
struct Context {
  const model::JobAnalysis& job;
  const model::Timeline& timeline;  // names, devices, rank info, import stats
  const analysis::WhatIf& what_if;

  // Threshold `name` of finding `id`: the user's value, else the catalog's default.
  [[nodiscard]] double threshold(std::string_view id, std::string_view name) const;
};

// The edit behind a finding's prediction, kept for the joint prediction.
struct Verdict {
  model::Finding finding;
  analysis::Edit expected, best, worst;
  bool has_edit = false;
};

using Judgement = std::vector<std::variant<Verdict, model::NotJudged>>;  // empty: nothing found

struct Rule {
  std::string_view id;  // of the finding(s) it can give, as in catalog/findings.json
  Judgement (*judge)(const Context&);
};

[[nodiscard]] const std::vector<Rule>& all_rules();

// Runs every rule, ranks by recoverable time, predicts the fixes together, writes the verdict.
[[nodiscard]] model::Diagnosis diagnose(const model::Timeline& timeline,
                                        const model::JobAnalysis& job,
                                        const analysis::WhatIf& what_if);

}  // namespace pyrometer::rules
