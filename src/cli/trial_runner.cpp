#include "cli/trial_runner.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "recording/reader.h"
#include "verify/run_summary.h"

namespace pyrometer::cli {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// "9 (SIGKILL)".
std::string signal_text(int number) {
  const char* name = ::sigabbrev_np(number);
  return std::to_string(number) + (name == nullptr ? "" : " (SIG" + std::string(name) + ")");
}

struct Job {
  std::vector<const recording::TrialProcess*> ranks;  // never empty; alone where nothing is known
  std::string problem;  // why these cannot be measured as one training; empty: they can
};

// The processes that train together.
Job job_of(const recording::TrialRecord& record) {
  Job out;
  const std::int32_t size = record.world_size;
  if (size <= 1) {
    out.ranks.push_back(&record);
    // One that makes a step now and then (an evaluation, a teacher) is no training of its own.
    constexpr std::size_t kFew = 10;
    const auto own = std::count_if(
        record.processes.begin(), record.processes.end(),
        [&](const auto& one) { return one.steps.size() * kFew > record.steps.size(); });
    if (own > 1) {
      out.problem = "trains in " + std::to_string(own) +
                    " processes that are no ranks of one job: which of them counts is not known";
    }
    return out;
  }
  for (const recording::TrialProcess& one : record.processes) {
    if (one.world_size != size || one.rank < 0) continue;
    // A launcher may have started a rank anew: what made more steps counts.
    const bool again = !out.ranks.empty() && out.ranks.back()->rank == one.rank;
    if (again && one.steps.size() > out.ranks.back()->steps.size()) out.ranks.back() = &one;
    if (!again) out.ranks.push_back(&one);
  }
  if (out.ranks.size() != static_cast<std::size_t>(size)) {
    out.problem = "has " + std::to_string(size) + " ranks, of which " +
                  std::to_string(out.ranks.size()) +
                  " made steps here: only a job on one machine, with the hook in each rank, can be "
                  "measured";
    if (out.ranks.empty()) out.ranks.push_back(&record);
  }
  return out;
}

// Why a run cannot be used; empty where it can.
std::string failure_of(const TrialOutcome& outcome, const monitor::TrialOptions& trial,
                       const recording::TrialRecord& record, bool so_already_will_do) {
  switch (outcome.how) {
    case TrialEnd::kEnded:
      break;
    case TrialEnd::kFailed: {
      if (outcome.out_of_memory) return "out of memory: " + outcome.last_words;
      const std::string how =
          outcome.end.signal != 0
              ? "ended by signal " + signal_text(outcome.end.signal)
              : "failed with exit code " + std::to_string(outcome.end.exit_code);
      return how + (outcome.last_words.empty() ? "" : ": " + outcome.last_words);
    }
    case TrialEnd::kHung:
      return "hung: no step was made for " + std::to_string(outcome.waited.count()) +
             " s (--patience)";
    case TrialEnd::kOutOfTime:
      return "did not end within the budget";
    case TrialEnd::kInterrupted:
      return "interrupted";
  }
  const Job job = job_of(record);
  if (!job.problem.empty()) return job.problem;
  for (const recording::TrialProcess* rank : job.ranks) {
    const std::string which =
        job.ranks.size() < 2 ? "" : " (on rank " + std::to_string(rank->rank) + ")";
    for (const std::vector<model::Override>* wanted : {&trial.with, &trial.alternate}) {
      for (const model::Override& one : *wanted) {
        const auto status = rank->overrides.find(one.id);
        if (status == rank->overrides.end()) {
          return "not applied: no process that trains with PyTorch loaded the hook" + which;
        }
        const bool will_do = status->second.starts_with("applied") ||
                             (so_already_will_do && monitor::is_so_already(one.id, status->second));
        if (!will_do) return status->second + which;
      }
    }
    if (!rank->loss_not_finite.empty()) {
      return "the loss is no finite number at " + rank->loss_not_finite + which;
    }
  }
  return {};
}

std::vector<verify::TimedStep> timed(const recording::TrialProcess& process) {
  std::vector<verify::TimedStep> out;
  for (const recording::TrialStep& step : process.steps) {
    out.push_back({.length = step.span.length(),
                   .samples = step.samples,
                   .variant = step.variant == "on"    ? 1
                              : step.variant == "off" ? 0
                                                      : -1});
  }
  return out;
}

void add_energy(TrialReading& out) {
  const auto timeline = recording::read_runs(out.recording);
  if (!timeline) {
    out.why_no_energy = timeline.error().to_string();
    return;
  }
  model::JobAnalysis nothing;  // the run's own rows say which GPUs it used
  nothing.ranks.resize(timeline->ranks.size());
  const verify::RunSummary run = verify::summarise(*timeline, nothing, {}, "");
  out.joules_per_sample = run.energy.per_sample();
  out.why_no_energy = run.energy.missing;
}

milliseconds steps_time(const monitor::TrialOptions& trial) {
  return duration_cast<milliseconds>(std::chrono::duration<double>(trial.stop_after_seconds));
}

}  // namespace

milliseconds TrialRunner::left() const {
  return std::max(milliseconds{0},
                  duration_cast<milliseconds>(settings_.deadline - steady_clock::now()));
}

milliseconds TrialRunner::expected(const monitor::TrialOptions& trial) const {
  return besides_ ? *besides_ + steps_time(trial) : milliseconds{0};
}

base::Result<TrialReading> TrialRunner::run(const monitor::TrialOptions& trial,
                                            const TrialCommand& command) {
  const std::string base = settings_.scratch + "/" + std::to_string(++number_);
  TrialRequest request{.command = command.words,
                       .folder = settings_.folder,
                       .recording = base + ".pyro",
                       .log = base + ".log",
                       .most = duration_cast<seconds>(left()) + seconds{1},
                       .patience = settings_.patience};
  monitor::TrialOptions rest = trial;
  rest.with.clear();
  request.environment = monitor::trial_environment(rest);
  request.environment.insert(request.environment.end(), command.environment.begin(),
                             command.environment.end());
  for (const model::Override& one : trial.with) {
    request.run_options.emplace_back("--with");
    request.run_options.push_back(one.id + "=" + one.value);
  }
  const base::Result<TrialOutcome> outcome = run_trial(request);
  if (!outcome) return base::fail(outcome.error());
  if (outcome->how == TrialEnd::kEnded) {
    besides_ = std::max(besides_.value_or(milliseconds{0}), outcome->took - steps_time(trial));
  }
  TrialReading out{.how = outcome->how,
                   .out_of_memory = outcome->out_of_memory,
                   .took = outcome->took,
                   .recording = request.recording};
  base::Result<recording::TrialRecord> record = recording::read_trial(request.recording);
  if (record) out.record = std::move(*record);
  out.failure = failure_of(*outcome, trial, out.record, command.so_already_will_do);
  if (out.failure.empty() && !record) out.failure = record.error().to_string();
  out.steps = timed(out.record);
  std::vector<std::vector<double>> losses;
  for (const recording::TrialProcess* rank : job_of(out.record).ranks) {
    out.ranks.push_back(timed(*rank));
    losses.push_back(rank->losses);
    out.record.peak_memory = std::max(out.record.peak_memory, rank->peak_memory);
  }
  out.losses = verify::mean_losses(losses);
  // What alternates within a second is not told apart by meters that are read once a second.
  if (out.failure.empty() && trial.alternate.empty()) add_energy(out);
  return out;
}

}  // namespace pyrometer::cli
