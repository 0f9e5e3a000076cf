// A rule judges one kind of waste from facts. All rules stand in the list in registry.cpp.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/what_if.h"
#include "model/analysis.h"
#include "model/finding.h"
#include "model/timeline.h"

namespace pyrometer::rules {

// What the user changed of the catalog's defaults.
struct Settings {
  std::map<std::string, double, std::less<>> thresholds;  // "<finding>.<name>" → value
  std::set<std::string, std::less<>> disabled;            // ids of findings
};

// A fact's value on the rank where it is largest.
struct OnRank {
  std::size_t position = 0;  // in Timeline::ranks
  double value = 0;
};

// What a rule may look at. Names and devices are for text only: a rule never reads events.
class Context {
 public:
  Context(const model::Timeline& timeline, const model::JobAnalysis& job,
          const analysis::WhatIf& what_if, const Settings& settings)
      : timeline_(timeline), job_(job), what_if_(what_if), settings_(settings) {}

  [[nodiscard]] const model::Timeline& timeline() const { return timeline_; }
  [[nodiscard]] const model::JobAnalysis& job() const { return job_; }
  [[nodiscard]] const analysis::WhatIf& what_if() const { return what_if_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }

  // Threshold `name` of finding `id`: the user's value, else the catalog's default.
  [[nodiscard]] double threshold(std::string_view id, std::string_view name) const;

  // Over the ranks that have the fact; nullopt when none has.
  [[nodiscard]] std::optional<OnRank> largest(model::FactId id) const;
  [[nodiscard]] std::optional<double> mean(model::FactId id) const;
  // Positions of ranks whose fact is at least `value`.
  [[nodiscard]] std::vector<std::int32_t> ranks_with(model::FactId id, double value) const;
  // Why no rank has the fact; completes "not judged: …".
  [[nodiscard]] std::string missing(model::FactId id) const;

  // Whether all this was recorded by `pyrometer run`, not by a profiler.
  [[nodiscard]] bool recording() const;

  // Fewest steps of any rank; 0 when some rank has none.
  [[nodiscard]] std::size_t steps() const;

 private:
  const model::Timeline& timeline_;
  const model::JobAnalysis& job_;
  const analysis::WhatIf& what_if_;
  const Settings& settings_;
};

// How a finding stands to others when they are ranked.
enum class Role : std::uint8_t {
  kCause,     // a specific cause with its own fix
  kResidual,  // a general symptom: ranked by what its fix gains beyond those of the specific causes
  kNote,      // information; never ranked among the causes
};

// A finding with the edits behind its prediction, kept for the joint prediction.
struct Verdict {
  model::Finding finding;
  Role role = Role::kCause;
  bool has_edit = false;
  analysis::Edit best, expected, worst;
  std::string model;  // what the edits assume, in words
};

// A rule gives findings, or says why it could not judge, or nothing.
struct Judgement {
  std::vector<Verdict> verdicts;
  std::vector<model::NotJudged> not_judged;
};

struct Rule {
  std::string_view id;  // of the finding, as in catalog/findings.json
  void (*judge)(const Context&, Judgement&);
};

[[nodiscard]] const std::vector<Rule>& all_rules();

// Runs every rule, ranks the findings by recoverable time, predicts their fixes together and writes
// the verdict. Deterministic.
[[nodiscard]] model::Diagnosis diagnose(const model::Timeline& timeline,
                                        const model::JobAnalysis& job,
                                        const analysis::WhatIf& what_if,
                                        const Settings& settings = {});

}  // namespace pyrometer::rules
