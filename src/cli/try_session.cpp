#include "cli/try_session.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "monitor/interrupts.h"

namespace pyrometer::cli {
namespace {

using verify::FixVerdict;
using verify::Sequential;
using verify::TriedFix;

constexpr std::uint32_t kSeed = 1;
constexpr int kLosses = 50;  // of the first steps
constexpr std::size_t kFewestRounds = 3;
constexpr std::size_t kMostRounds = 6;
constexpr double kSecond = 1e9;

bool changes_numerics(const TriedFix& fix) {
  return std::any_of(fix.overrides.begin(), fix.overrides.end(), [](const model::Override& one) {
    return model::find_override(one.id)->changes_numerics;
  });
}

}  // namespace

monitor::TrialOptions TrySession::usual() const {
  return {.stop_after_seconds = options_.seconds, .seed = kSeed, .losses = kLosses};
}

std::optional<TrialReading> TrySession::trial(const monitor::TrialOptions& options) {
  if (stopped_) return std::nullopt;
  // A trial that cannot end in time tells nothing.
  if (runner_.left() < runner_.expected(options)) {
    result_.out_of_budget = stopped_ = true;
    return std::nullopt;
  }
  base::Result<TrialReading> reading = runner_.run(options);
  if (!reading) {
    result_.notes.push_back("a trial could not be run: " + reading.error().to_string());
    stopped_ = true;
    return std::nullopt;
  }
  if (reading->how == TrialEnd::kInterrupted || monitor::Interrupts::signal() != 0) {
    result_.interrupted = stopped_ = true;
    return std::nullopt;
  }
  if (reading->how == TrialEnd::kOutOfTime) {
    result_.out_of_budget = stopped_ = true;
    return std::nullopt;
  }
  return std::move(*reading);
}

base::Result<void> TrySession::measure_baseline() {
  options_.say("the program as it is");
  const auto fail = [](std::string message, std::string advice) {
    return base::fail(base::Error{.kind = base::ErrorKind::kUnsupported,
                                  .message = std::move(message),
                                  .file = "",
                                  .advice = std::move(advice)});
  };
  const std::optional<TrialReading> first = trial(usual());
  if (!first) {
    if (result_.interrupted) return fail("interrupted before anything was known", "");
    return fail(
        result_.notes.empty() ? "the program did not end within the budget" : result_.notes.front(),
        "Give a longer --budget");
  }
  if (!first->failure.empty()) return fail("the unchanged program " + first->failure, "");
  result_.baseline = verify::job_time(first->ranks);
  if (!result_.baseline) {
    return fail("the unchanged program made " + std::to_string(first->steps.size()) +
                    " training steps in a trial, too few to compare",
                "Give a longer --budget, and a command that trains with PyTorch");
  }
  result_.ranks = static_cast<std::int64_t>(first->ranks.size());
  result_.baseline_peak_memory = first->record.peak_memory;
  if (first->joules_per_sample) result_.baseline_energy.push_back(*first->joules_per_sample);
  result_.why_no_energy = first->why_no_energy;
  base_recording_ = first->recording;
  losses_.push_back(first->losses);
  return {};
}

TriedFix TrySession::candidate(const model::Override& one) const {
  const model::OverrideInfo& info = *model::find_override(one.id);
  TriedFix fix{.overrides = {one}, .title = std::string(info.title)};
  fix.alternated = info.switchable;
  if (info.changes_numerics && !options_.allow_numerics) {
    fix.verdict = FixVerdict::kSkipped;
    fix.reason = "it changes numbers, if only by rounding: add --allow-numerics to try it";
  }
  return fix;
}

// In the order of the findings, which is that of their predicted gain.
void TrySession::choose(const verify::RunSummary& baseline) {
  for (const model::Override& one : options_.fixes) result_.fixes.push_back(candidate(one));
  for (const model::Finding& finding : baseline.diagnosis.findings) {
    for (const model::OverrideInfo& info : model::override_table()) {
      if (!model::answers(info, finding.id)) continue;
      const auto same =
          std::find_if(result_.fixes.begin(), result_.fixes.end(),
                       [&](const TriedFix& fix) { return fix.overrides.front().id == info.id; });
      const bool is_new = same == result_.fixes.end();
      if (is_new && (!options_.fixes.empty() || info.default_value.empty())) continue;
      if (is_new) {
        result_.fixes.push_back(candidate({std::string(info.id), std::string(info.default_value)}));
      }
      TriedFix& fix = is_new ? result_.fixes.back() : *same;
      if (!fix.finding.empty()) continue;
      fix.finding = finding.id;
      fix.where = finding.where;
      if (finding.prediction && finding.prediction->baseline_ns > 0) {
        const model::Prediction& p = *finding.prediction;
        fix.predicted = verify::Interval{.value = p.mid_ns / p.baseline_ns,
                                         .low = p.low_ns / p.baseline_ns,
                                         .high = p.high_ns / p.baseline_ns,
                                         .known = true};
      }
    }
  }
}

// With other seeds: how much the loss differs from seed to seed, and the time from run to run.
void TrySession::repeat_baseline() {
  std::vector<double> logs = {std::log(result_.baseline->ns)};
  for (std::uint32_t seed = kSeed + 1; seed <= kSeed + 2; ++seed) {
    options_.say("the program as it is, with another seed");
    monitor::TrialOptions options = usual();
    options.seed = seed;
    const std::optional<TrialReading> reading = trial(options);
    if (!reading) return;
    if (!reading->failure.empty()) continue;
    losses_.push_back(reading->losses);
    if (reading->joules_per_sample) result_.baseline_energy.push_back(*reading->joules_per_sample);
    const auto time = verify::job_time(reading->ranks);
    if (time && time->per_sample == result_.baseline->per_sample)
      logs.push_back(std::log(time->ns));
  }
  if (logs.size() < 2) return;
  double mean = 0;
  for (const double log : logs) mean += log / static_cast<double>(logs.size());
  double square = 0;
  for (const double log : logs) square += (log - mean) * (log - mean);
  result_.noise = std::sqrt(square / static_cast<double>(logs.size() - 1));
}

bool TrySession::guard(const TrialReading& reading, TriedFix& fix) const {
  const auto reject = [&fix](std::string why) {
    fix.verdict = FixVerdict::kRejected;
    fix.reason = std::move(why);
    return false;
  };
  if (!reading.failure.empty()) return reject(reading.failure);
  if (fix.overrides.size() == 1) {
    constexpr std::string_view kApplied = "applied: ";
    const auto status = reading.record.overrides.find(fix.overrides.front().id);
    if (status != reading.record.overrides.end() && status->second.starts_with(kApplied)) {
      fix.applied = status->second.substr(kApplied.size());
    }
  }
  if (reading.record.peak_memory > 0) {
    fix.peak_memory = std::max(fix.peak_memory, reading.record.peak_memory);
  }
  if (reading.joules_per_sample) fix.energy.push_back(*reading.joules_per_sample);
  if (fix.loss.known) return true;  // the first steps of its first run have been judged
  fix.loss = verify::judge_losses(losses_, reading.losses);
  if (fix.loss.worse) return reject("the loss got worse");
  if (!fix.loss.known && changes_numerics(fix)) {
    return reject("it changes numbers, and the loss cannot be judged: " + fix.loss.basis);
  }
  return true;
}

void TrySession::decide(const Sequential& test, TriedFix& fix) const {
  fix.pairs = test.pairs();
  const verify::Interval log = test.estimate();
  if (fix.pairs > 0) {
    fix.ratio = {.value = std::exp(log.value),
                 .low = std::exp(log.low),
                 .high = std::exp(log.high),
                 .known = log.known && fix.pairs > 1};
  }
  switch (test.decision()) {
    case verify::Decision::kFaster:
      fix.verdict = FixVerdict::kGain;
      break;
    case verify::Decision::kSlower:
      fix.verdict = FixVerdict::kSlower;
      break;
    case verify::Decision::kSame:
      fix.verdict = FixVerdict::kSame;
      break;
    case verify::Decision::kUndecided:
      fix.verdict = FixVerdict::kUndecided;
      fix.reason = result_.interrupted     ? "interrupted"
                   : result_.out_of_budget ? "the budget was over"
                                           : "the difference is within the noise";
      break;
  }
}

void TrySession::try_switchable(TriedFix& fix) {
  options_.say(model::text_of(fix.overrides));
  monitor::TrialOptions with = usual();
  with.with = fix.overrides;
  const std::optional<TrialReading> whole = trial(with);
  Sequential test({});
  if (whole && !guard(*whole, fix)) return;
  constexpr int kMostRuns = 3;
  for (int i = 0; whole && i < kMostRuns && !test.done(); ++i) {
    options_.say(model::text_of(fix.overrides) + ", on and off in turns");
    monitor::TrialOptions turns = usual();
    turns.alternate = fix.overrides;
    // A quarter of a second, that two steps around a switch can be left out.
    constexpr double kTurn = 0.25 * kSecond;
    constexpr int kShortest = 6;
    constexpr int kLongest = 500;
    turns.block_steps = static_cast<int>(
        std::clamp(kTurn / result_.baseline->step_ns, double{kShortest}, double{kLongest}));
    constexpr double kQuartets = 8;
    const double needed = 4 * kQuartets * turns.block_steps * result_.baseline->step_ns / kSecond;
    turns.stop_after_seconds = std::max(options_.seconds, std::min(needed, 3 * options_.seconds));
    const std::optional<TrialReading> reading = trial(turns);
    if (!reading) break;
    if (!guard(*reading, fix)) return;
    const std::vector<double> ratios = verify::job_turn_ratios(reading->ranks);
    if (ratios.empty()) break;
    for (const double ratio : ratios) test.add(ratio);
  }
  decide(test, fix);
}

void TrySession::try_in_rounds(const std::vector<TriedFix*>& fixes, std::size_t most) {
  std::map<TriedFix*, Sequential> tests;
  for (TriedFix* fix : fixes) {
    tests.emplace(fix, Sequential({.fewest = kFewestRounds, .most = most}));
  }
  for (std::size_t round = 0; round < most && !stopped_; ++round) {
    std::vector<TriedFix*> order = {nullptr};  // the baseline
    for (auto& [fix, test] : tests) {
      if (!test.done() && fix->verdict != FixVerdict::kRejected) order.push_back(fix);
    }
    if (order.size() == 1) break;
    if (round % 2 == 1) std::reverse(order.begin(), order.end());
    std::map<TriedFix*, double> times;
    for (TriedFix* fix : order) {
      options_.say("round " + std::to_string(round + 1) + ": " +
                   (fix == nullptr ? "the program as it is" : model::text_of(fix->overrides)));
      monitor::TrialOptions options = usual();
      if (fix != nullptr) options.with = fix->overrides;
      const std::optional<TrialReading> reading = trial(options);
      if (!reading) break;
      if (fix != nullptr && !guard(*reading, *fix)) continue;
      if (fix == nullptr && reading->joules_per_sample) {
        result_.baseline_energy.push_back(*reading->joules_per_sample);
      }
      const auto time = verify::job_time(reading->ranks);
      if (time && reading->failure.empty() && time->per_sample == result_.baseline->per_sample) {
        times[fix] = time->ns;
      } else if (fix != nullptr) {
        fix->verdict = FixVerdict::kRejected;
        fix->reason = "made too few training steps in a trial to compare";
      }
    }
    for (const auto& [fix, ns] : times) {
      if (fix != nullptr && times.contains(nullptr)) {
        tests.at(fix).add(std::log(ns / times.at(nullptr)));
      }
    }
  }
  for (const auto& [fix, test] : tests) {
    if (fix->verdict != FixVerdict::kRejected) decide(test, *fix);
  }
}

void TrySession::try_together() {
  TriedFix all{.title = "together"};
  for (const TriedFix& fix : result_.fixes) {
    if (fix.verdict != FixVerdict::kGain) continue;
    all.overrides.insert(all.overrides.end(), fix.overrides.begin(), fix.overrides.end());
  }
  if (all.overrides.size() < 2 || stopped_) return;
  try_in_rounds({&all}, kMostRounds);
  result_.together = std::move(all);
}

void TrySession::choose_best() {
  const auto take = [this](const TriedFix& fix) {
    if (fix.verdict != FixVerdict::kGain) return;
    if (!result_.best.empty() && fix.ratio.value >= result_.best_ratio.value) return;
    result_.best = fix.overrides;
    result_.best_ratio = fix.ratio;
  };
  for (const TriedFix& fix : result_.fixes) take(fix);
  if (result_.together) take(*result_.together);
}

base::Result<verify::TryResult> TrySession::run() {
  result_.command = options_.trials.command;
  if (auto measured = measure_baseline(); !measured) return base::fail(measured.error());
  base::Result<verify::RunSummary> baseline = load_run(base_recording_, options_.load);
  if (!baseline) return base::fail(baseline.error());
  result_.gpus = static_cast<std::int64_t>(baseline->gpus.size());
  result_.usd_per_gpu_hour = baseline->usd_per_gpu_hour;
  if (!baseline->why_no_price.empty())
    result_.notes.push_back("no price: " + baseline->why_no_price);
  choose(*baseline);
  const auto tried = [](const TriedFix& fix) { return fix.verdict != FixVerdict::kSkipped; };
  if (std::any_of(result_.fixes.begin(), result_.fixes.end(), tried)) repeat_baseline();
  std::vector<TriedFix*> rounds;
  for (TriedFix& fix : result_.fixes) {
    if (tried(fix) && !fix.alternated) rounds.push_back(&fix);
  }
  // In the order of what they are predicted to gain; those of one kind share their baseline runs.
  const bool rounds_first =
      !result_.fixes.empty() && !rounds.empty() && rounds.front() == &result_.fixes.front();
  if (rounds_first) try_in_rounds(rounds, kMostRounds);
  for (TriedFix& fix : result_.fixes) {
    if (tried(fix) && fix.alternated) try_switchable(fix);
  }
  if (!rounds_first && !rounds.empty()) try_in_rounds(rounds, kMostRounds);
  try_together();
  choose_best();
  return std::move(result_);
}

}  // namespace pyrometer::cli
