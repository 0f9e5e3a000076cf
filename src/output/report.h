// What a report is made from, and how it may look.
#pragma once

#include <optional>
#include <string>

#include "cost/assumptions.h"
#include "cost/price.h"
#include "model/analysis.h"
#include "model/finding.h"
#include "model/timeline.h"

namespace pyrometer::output {

// Everything a report may show; the referenced objects outlive it. `timeline.ranks` and `job.ranks`
// have the same order and length. All text that stems from a trace is untrusted: outputs make it
// harmless where they write it.
struct Report {
  const model::Timeline& timeline;
  const model::JobAnalysis& job;
  const model::Diagnosis& diagnosis;
  std::optional<cost::Price> price;  // absent: shares only
  std::string price_missing;         // why, where one was asked for
  cost::Assumptions assumptions;
};

struct TextStyle {
  bool color = false;    // ANSI colours; never the only carrier of a meaning
  bool unicode = true;   // false: ASCII only, whatever the trace's names hold
  int width = 100;       // columns; below 40 counts as 40, above 160 as 160
  bool verbose = false;  // all tables
  bool hints = true;     // at the end: which options show more
  int max_findings = 5;
  int top_n = 10;  // rows of a table that is sorted by weight
};

}  // namespace pyrometer::output
