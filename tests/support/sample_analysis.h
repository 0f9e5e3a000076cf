// A small job made by hand, for tests of what is built on an analysis: outputs and costs.
#pragma once

#include <memory>

#include "model/analysis.h"
#include "model/finding.h"
#include "model/timeline.h"

namespace pyrometer::testing {

struct SampleJob {
  model::Timeline timeline;
  model::JobAnalysis job;
  model::Diagnosis diagnosis;
};

struct SampleOptions {
  int ranks = 1;
  int steps = 12;
  bool findings = true;
  // Names full of terminal escapes, markup, broken UTF-8 and great length, wherever a trace has a
  // say.
  bool hostile = false;
};

// Every table holds something, the figures are made up but consistent: causes add up, shares match.
[[nodiscard]] SampleJob sample_job(const SampleOptions& options = {});

// What a trace without ranks, without events, or without device activity leads to.
[[nodiscard]] SampleJob empty_job();
[[nodiscard]] SampleJob host_only_job();

// What `pyrometer run` records: a whole run on a GPU; and one on the CPU that is still running, of
// which hardly anything is known.
[[nodiscard]] SampleJob recorded_job();
[[nodiscard]] SampleJob running_job();

}  // namespace pyrometer::testing
