// The course of `pyrometer try`: baseline, candidates, measurement, guard, the best together.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/load_run.h"
#include "cli/trial_runner.h"
#include "model/overrides.h"
#include "verify/sequential.h"
#include "verify/trial_result.h"

namespace pyrometer::cli {

struct TryOptions {
  TrialRunner::Settings trials;
  std::vector<model::Override> fixes;  // empty: as the findings of the first run ask for
  bool allow_numerics = false;
  double seconds = 10;  // of a trial, from its first step on
  LoadOptions load;
  std::function<void(const std::string&)> say;  // what is being done
};

class TrySession {
 public:
  explicit TrySession(TryOptions options)
      : options_(std::move(options)), runner_(options_.trials) {}

  // An error: the unchanged program cannot be measured. Everything else is in the result, also what
  // was known when Ctrl-C came.
  [[nodiscard]] base::Result<verify::TryResult> run();

 private:
  // Nothing: stopped, by Ctrl-C or because the budget is over; the result says which.
  [[nodiscard]] std::optional<TrialReading> trial(const monitor::TrialOptions& options);
  [[nodiscard]] base::Result<void> measure_baseline();
  void choose(const verify::RunSummary& baseline);
  [[nodiscard]] verify::TriedFix candidate(const model::Override& one) const;
  void repeat_baseline();
  void try_switchable(verify::TriedFix& fix);
  // Runs against runs, in rounds: the baseline, then each of them; the next round the other way.
  void try_in_rounds(const std::vector<verify::TriedFix*>& fixes, std::size_t most);
  // Failure, loss and memory of a run with the override. False: it is rejected.
  [[nodiscard]] bool guard(const TrialReading& reading, verify::TriedFix& fix) const;
  void decide(const verify::Sequential& test, verify::TriedFix& fix) const;
  void try_together();
  void choose_best();
  [[nodiscard]] monitor::TrialOptions usual() const;

  TryOptions options_;
  TrialRunner runner_;
  verify::TryResult result_;
  std::vector<std::vector<double>> losses_;  // of the baseline, by seed
  std::string base_recording_;
  bool stopped_ = false;
};

}  // namespace pyrometer::cli
