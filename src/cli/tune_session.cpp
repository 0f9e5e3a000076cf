#include "cli/tune_session.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/tune_rows.h"
#include "monitor/interrupts.h"
#include "output/shell_words.h"
#include "output/tune_report.h"
#include "output/units.h"

namespace pyrometer::cli {
namespace {

using tune::Measurement;
using tune::Objective;
using tune::Outcome;
using tune::Point;

constexpr std::uint32_t kSeed = 1;
constexpr int kLosses = 50;  // of the first steps, where only their being numbers counts
constexpr int kAllLosses = 100'000;
// Half of them may be warm-up, and of the rest five are needed.
constexpr std::int64_t kFewestSteps = 12;
// The counter of energy is read every five seconds.
constexpr double kEnergySeconds = 10;
constexpr std::size_t kFinalists = 2;
// A configuration that seems up to 3% worse may be better: noise of short trials.
constexpr double kWorth = 1.03;
constexpr std::size_t kFewestRounds = 3;
constexpr std::size_t kMostRounds = 6;

}  // namespace

TuneSession::TuneSession(TuneOptions options, recording::TuneFile& file)
    : options_(std::move(options)), file_(file) {
  for (std::size_t slot = 0; slot < std::max<std::size_t>(1, options_.gpus.size()); ++slot) {
    TrialRunner::Settings settings = options_.trials;
    if (slot > 0) settings.scratch += "/slot" + std::to_string(slot);
    std::error_code ignored;  // a trial that cannot write says so
    std::filesystem::create_directories(settings.scratch, ignored);
    runners_.push_back(std::make_unique<TrialRunner>(std::move(settings)));
  }
  for (const recording::TuneRow& row : file.rows()) {
    if (auto one = measurement_of(row, options_.space)) earlier_.push_back(std::move(*one));
  }
}

std::optional<Measurement> TuneSession::kept(const Measurement& wanted) const {
  for (const Measurement& one : earlier_) {
    const bool same = one.point == wanted.point && one.is_final == wanted.is_final &&
                      one.round == wanted.round && (one.is_final || one.rung == wanted.rung);
    if (same) return one;
  }
  return std::nullopt;
}

base::Error TuneSession::unknown_objective(const Measurement& one) const {
  base::Error error{.kind = base::ErrorKind::kUnsupported, .message = "", .file = ""};
  if (one.outcome != Outcome::kMeasured || tune::cost_of(one, options_.objective)) return error;
  const bool per_sample = options_.objective == Objective::kSamplesPerSecond ||
                          options_.objective == Objective::kSamplesPerUsd ||
                          options_.objective == Objective::kSamplesPerJoule;
  if (per_sample && !one.samples_per_step) {
    error.message = "how many samples a step has is not known: the hook sees no batches";
    error.advice =
        "Name what makes up a batch, as in --samples-per-step '{batch}'; or, where no dimension "
        "changes the batch, take --objective steps_per_second";
  } else if (options_.objective == Objective::kSamplesPerUsd && one.gpus == 0) {
    error.message = "the trial used no GPU that was seen, so there is no GPU time to pay for";
    error.advice = "Take --objective samples_per_second";
  } else if (options_.objective == Objective::kSamplesPerUsd) {
    error.message =
        "there is no price: " +
        (last_run_.why_no_price.empty() ? std::string("none was given") : last_run_.why_no_price);
    error.advice = "Give --price USD or --prices FILE";
  } else if (options_.objective == Objective::kSamplesPerJoule) {
    error.message = "the energy of the GPUs is not known: " + last_run_.why_no_energy;
    error.advice = "Take --objective samples_per_second, or a longer --trial-time";
  } else {
    error.message = "it is not known";
  }
  return error;
}

// Steps instead of samples, where those are not known and a step is the same in all configurations.
void TuneSession::settle_objective(const Measurement& first) {
  if (!options_.steps_will_do || options_.objective != Objective::kSamplesPerSecond) return;
  if (first.outcome != Outcome::kMeasured || first.samples_per_step) return;
  options_.objective = result_.objective = Objective::kStepsPerSecond;
  result_.notes.emplace_back(
      "how many samples a step has is not known; no dimension changes it, so steps are compared");
}

void TuneSession::read_trial(const TrialReading& reading, Measurement& one) {
  const auto fail = [&one](Outcome outcome, std::string why) {
    one.outcome = outcome;
    one.reason = std::move(why);
  };
  if (!reading.failure.empty()) {
    return fail(reading.out_of_memory ? Outcome::kOutOfMemory : Outcome::kFailed, reading.failure);
  }
  const auto time = verify::job_time(reading.ranks);
  if (!time) {
    return fail(Outcome::kFailed, "made " + std::to_string(reading.steps.size()) +
                                      " training steps in a trial, too few to compare");
  }
  one.steps = time->steps;
  one.step_ns = time->step_ns;
  base::Result<verify::RunSummary> run = load_run(reading.recording, options_.load);
  if (!run) return fail(Outcome::kFailed, run.error().to_string());
  last_run_ = std::move(*run);
  if (options_.samples) {
    one.samples_per_step = options_.samples->of(options_.space, one.point);
  } else if (time->per_sample) {
    one.samples_per_step = time->step_ns / time->ns;
  }
  one.gpus = static_cast<std::int64_t>(last_run_.gpus.size());
  one.usd_per_gpu_hour = last_run_.usd_per_gpu_hour;
  one.joules_per_step = last_run_.joules_per_step;
  one.peak_memory = last_run_.peak_memory;
  const tune::LossCourse course =
      tune::course_of(reading.losses, reading.record.loss_times,
                      reading.record.steps.front().span.start, options_.target_loss);
  one.loss = course.smoothed;
  if (options_.objective != Objective::kTimeToLoss) return;
  one.seconds_to_loss = course.reached_s;
  if (!course.smoothed) {
    return fail(Outcome::kFailed,
                "no loss was seen: the hook sees the number that backward() is "
                "called on, and needs " +
                    std::to_string(tune::kSmoothedSteps) + " steps with one");
  }
  if (!course.reached_s) {
    fail(Outcome::kNotReached,
         "the loss was " + output::format_number(*course.smoothed) + " when the trial ended");
  }
}

monitor::TrialOptions TuneSession::trial_options(const Measurement& wanted) const {
  double seconds = options_.seconds * tune::share_of_length(wanted.rung);
  if (options_.objective == Objective::kSamplesPerJoule) {
    seconds = std::max(seconds, std::min(options_.seconds, kEnergySeconds));
  }
  return {.stop_after_steps = kFewestSteps,
          .stop_after_seconds = seconds,
          // In a round all have the same seed, and each round another one.
          .seed = kSeed + static_cast<std::uint32_t>(wanted.round),
          .losses = options_.objective == Objective::kTimeToLoss ? kAllLosses : kLosses};
}

std::optional<Measurement> TuneSession::take(const TrialReading& reading, Measurement wanted) {
  if (reading.how == TrialEnd::kInterrupted || monitor::Interrupts::signal() != 0) {
    result_.interrupted = stopped_ = true;
    return std::nullopt;
  }
  if (reading.how == TrialEnd::kOutOfTime) {
    result_.out_of_budget = stopped_ = true;
    return std::nullopt;
  }
  constexpr double kMilli = 1e-3;
  wanted.seconds = static_cast<double>(reading.took.count()) * kMilli;
  read_trial(reading, wanted);
  if (!options_.keep) {
    std::error_code ignored;
    std::filesystem::remove(reading.recording, ignored);
  }
  if (wanted.point == options_.first) settle_objective(wanted);
  base::Error unknown = unknown_objective(wanted);
  if (!unknown.message.empty()) {
    if (wanted.point == options_.first) {  // it is not known of any, then
      failed_ = std::move(unknown);
      stopped_ = true;
      return std::nullopt;
    }
    wanted.outcome = Outcome::kFailed;
    wanted.reason = unknown.message;
  }
  if (auto written = file_.add(row_of(wanted, options_.space)); !written) {
    failed_ = written.error();
    stopped_ = true;
    return std::nullopt;
  }
  const auto cost = tune::cost_of(wanted, options_.objective);
  options_.say(options_.space.text_of(wanted.point) + ": " +
               (cost ? output::describe_objective(*cost, options_.objective) : wanted.reason));
  ++fresh_;
  result_.all.push_back(wanted);
  return wanted;
}

std::optional<Measurement> TuneSession::measure(Measurement wanted, std::size_t slot) {
  std::unique_lock lock(mutex_);
  if (stopped_) return std::nullopt;
  if (auto one = kept(wanted)) {
    ++result_.taken_over;
    if (one->point == options_.first) settle_objective(*one);
    result_.all.push_back(*one);
    return one;
  }
  const bool is_late =
      !wanted.is_final && std::chrono::steady_clock::now() > options_.search_deadline;
  tune::Trial trial = options_.command.fill(options_.space, wanted.point);
  monitor::TrialOptions asked = trial_options(wanted);
  asked.with = trial.overrides;
  TrialRunner& runner = *runners_[slot];
  // A trial that cannot end in time tells nothing.
  if (is_late || runner.left() <= runner.expected(asked)) {
    result_.out_of_budget = true;
    return std::nullopt;
  }
  const std::string round =
      wanted.is_final ? "in round " + std::to_string(wanted.round - first_round_ + 1) + " " : "";
  options_.say("trying " + round + options_.space.text_of(wanted.point));
  if (trial.power_limit_w) {
    if (auto limited = options_.set_power_limit(*trial.power_limit_w); !limited) {
      failed_ = limited.error();
      stopped_ = true;
      return std::nullopt;
    }
  }
  if (!options_.gpus.empty()) {
    trial.environment.push_back("CUDA_VISIBLE_DEVICES=" + options_.gpus[slot]);
  }
  lock.unlock();
  base::Result<TrialReading> reading = runner.run(
      asked,
      {.words = trial.command, .environment = trial.environment, .so_already_will_do = true});
  lock.lock();
  if (!reading) {
    failed_ = reading.error();
    stopped_ = true;
    return std::nullopt;
  }
  return take(*reading, std::move(wanted));
}

std::vector<std::optional<Measurement>> TuneSession::measure_all(
    const std::vector<Measurement>& wanted) {
  std::vector<std::optional<Measurement>> out(wanted.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    threads.emplace_back([&, i] { out[i] = measure(wanted[i], i); });
  }
  out[0] = measure(wanted[0], 0);
  for (std::thread& thread : threads) thread.join();
  return out;
}

base::Result<void> TuneSession::search(tune::Search& search, bool only_kept) {
  std::size_t failures = 0;
  bool any_works = false;
  for (bool goes_on = true; goes_on;) {
    std::vector<tune::Question> questions;
    std::vector<Measurement> wanted;
    while (questions.size() < runners_.size()) {
      std::optional<tune::Question> question;
      if (!only_kept && !pending_.empty()) {
        question = pending_.front();
        pending_.pop_front();
        if (search.withdraw_if_excluded(*question)) continue;
      } else {
        question = search.next();
      }
      if (!question) break;
      const Measurement one{.point = question->point, .rung = question->rung};
      if (only_kept && !kept(one)) {
        pending_.push_back(*question);
        continue;
      }
      questions.push_back(*question);
      wanted.push_back(one);
    }
    if (questions.empty()) break;
    const std::vector<std::optional<Measurement>> measured = measure_all(wanted);
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const std::optional<Measurement>& one = measured[i];
      goes_on = goes_on && one;
      if (!one) continue;
      const auto cost = tune::cost_of(*one, options_.objective);
      search.answer(questions[i],
                    {.outcome = one->outcome,
                     .cost = one->outcome == Outcome::kNotReached ? one->loss.value_or(0)
                                                                  : cost.value_or(0)});
      any_works =
          any_works || one->outcome == Outcome::kMeasured || one->outcome == Outcome::kNotReached;
      if (one->outcome == Outcome::kFailed) ++failures;
    }
    constexpr std::size_t kMostFailures = 4;
    if (!any_works && failures >= kMostFailures) {
      return base::fail({.kind = base::ErrorKind::kUnsupported,
                         .message = "no configuration works: " +
                                    options_.space.text_of(result_.all.front().point) + " " +
                                    result_.all.front().reason,
                         .file = "",
                         .advice = "Try the command with these values first"});
    }
  }
  if (failed_) return base::fail(*failed_);
  return {};
}

void TuneSession::find_first_round() {
  const bool has_finals = !earlier_.empty() && earlier_.back().is_final;
  first_round_ = 0;
  for (const Measurement& one : earlier_) {
    if (one.is_final) first_round_ = std::max(first_round_, one.round + 1);
  }
  if (!has_finals) return;
  for (auto one = earlier_.rbegin(); one != earlier_.rend() && one->is_final; ++one) {
    first_round_ = std::min(first_round_, one->round);
  }
}

base::Result<void> TuneSession::search_on(tune::Search& search) {
  if (pending_.empty() || stopped_ || fresh_ > 0) return {};  // these finals were not finished
  if (auto searched = this->search(search, false); !searched) return searched;
  if (fresh_ == 0) return {};
  const std::vector<tune::Final> before = std::exchange(result_.finals, {});
  for (const Measurement& one : earlier_) {
    if (one.is_final) first_round_ = std::max(first_round_, one.round + 1);
  }
  compare_finalists(search.finalists(kFinalists, kWorth));
  const bool nothing_new = std::all_of(result_.finals.begin(), result_.finals.end(),
                                       [](const tune::Final& one) { return one.pairs == 0; });
  if (nothing_new) result_.finals = before;
  return {};
}

void TuneSession::decide(const verify::Sequential& test, tune::Final& final) const {
  final.pairs = test.pairs();
  const verify::Interval log = test.estimate();
  if (final.pairs > 0) {
    final.ratio = {.value = std::exp(log.value),
                   .low = std::exp(log.low),
                   .high = std::exp(log.high),
                   .known = log.known && final.pairs > 1};
  }
  if (final.verdict == tune::FinalVerdict::kRejected) return;
  switch (test.decision()) {
    case verify::Decision::kFaster:
      final.verdict = tune::FinalVerdict::kBetter;
      break;
    case verify::Decision::kSlower:
      final.verdict = tune::FinalVerdict::kWorse;
      break;
    case verify::Decision::kSame:
      final.verdict = tune::FinalVerdict::kSame;
      break;
    case verify::Decision::kUndecided:
      final.reason = result_.interrupted     ? "interrupted"
                     : result_.out_of_budget ? "the budget was over"
                                             : "the difference is within the noise";
      break;
  }
}

void TuneSession::compare_finalists(const std::vector<Point>& finalists) {
  constexpr double kError = 0.05;  // over all of them
  std::vector<verify::Sequential> tests(
      finalists.size(),
      verify::Sequential(
          {.error = kError / static_cast<double>(std::max<std::size_t>(1, finalists.size())),
           .fewest = kFewestRounds,
           .most = kMostRounds}));
  for (const Point& point : finalists) result_.finals.push_back({.point = point});
  bool goes_on = true;
  for (std::size_t round = 0; goes_on && round < kMostRounds; ++round) {
    std::vector<std::size_t> order = {finalists.size()};  // the first configuration
    for (std::size_t i = 0; i < finalists.size(); ++i) {
      const bool open =
          !tests[i].done() && result_.finals[i].verdict != tune::FinalVerdict::kRejected;
      if (open) order.push_back(i);
    }
    if (order.size() == 1) break;
    if (round % 2 == 1) std::reverse(order.begin(), order.end());
    std::map<std::size_t, double> costs;
    for (const std::size_t i : order) {
      const bool is_first = i == finalists.size();
      const auto one = measure({.point = is_first ? options_.first : finalists[i],
                                .is_final = true,
                                .round = first_round_ + static_cast<int>(round),
                                .rung = tune::kRungs - 1},
                               0);
      if (!one) {
        goes_on = false;
        break;
      }
      const auto cost = one->outcome == Outcome::kMeasured ? tune::cost_of(*one, options_.objective)
                                                           : std::nullopt;
      if (cost) {
        costs[i] = *cost;
      } else if (!is_first) {
        result_.finals[i].verdict = tune::FinalVerdict::kRejected;
        result_.finals[i].reason = one->reason;
      }
    }
    for (const auto& [i, cost] : costs) {
      const auto base = costs.find(finalists.size());
      if (i != finalists.size() && base != costs.end()) tests[i].add(std::log(cost / base->second));
    }
  }
  for (std::size_t i = 0; i < finalists.size(); ++i) decide(tests[i], result_.finals[i]);
}

void TuneSession::conclude(bool first_works) {
  tune::arrange(result_);
  if (!first_works) {
    const bool any = !result_.tried.empty() && result_.tried.front().cost;
    result_.verdict = any ? tune::Verdict::kNoFirst : tune::Verdict::kNoneWorks;
    if (any) result_.best = result_.tried.front().last.point;
  } else {
    bool undecided = false;
    for (const tune::Final& one : result_.finals) {
      undecided = undecided || one.verdict == tune::FinalVerdict::kUndecided;
      if (one.verdict != tune::FinalVerdict::kBetter) continue;
      if (result_.best && one.ratio.value >= result_.best_ratio.value) continue;
      result_.best = one.point;
      result_.best_ratio = one.ratio;
    }
    result_.verdict = result_.best ? tune::Verdict::kBetter
                      : undecided  ? tune::Verdict::kUndecided
                                   : tune::Verdict::kNothing;
  }
  if (first_works || result_.best) {
    result_.command = command_line(result_.best.value_or(options_.first));
  }
}

std::string TuneSession::command_line(const Point& point) const {
  const tune::Trial trial = options_.command.fill(options_.space, point);
  std::string line;
  if (trial.power_limit_w) {
    line = "sudo nvidia-smi -pl " + output::format_number(*trial.power_limit_w) + " && ";
  }
  for (const std::string& one : trial.environment) {
    const std::size_t equals = one.find('=');
    line += one.substr(0, equals + 1) + output::shell_word(one.substr(equals + 1)) + " ";
  }
  if (!trial.overrides.empty()) {
    line += "pyrometer run";
    for (const model::Override& one : trial.overrides) {
      line += " --with " + output::shell_word(one.id + "=" + one.value);
    }
    line += " -- ";
  }
  return line + output::shell_line(trial.command);
}

base::Result<tune::TuneResult> TuneSession::run() {
  result_.space = options_.space;
  result_.objective = options_.objective;
  result_.target_loss = options_.target_loss;
  result_.first = options_.first;
  result_.seed = options_.seed;
  result_.file = file_.path();
  tune::Search search(options_.space, {.first = options_.first,
                                       .seed = options_.seed,
                                       .most = options_.most,
                                       .grows_memory = options_.grows_memory});
  result_.exhaustive = search.is_exhaustive();
  find_first_round();
  // Once finals have begun, they are finished first: what they compare is settled.
  const bool has_finals = !earlier_.empty() && earlier_.back().is_final;
  if (auto searched = this->search(search, has_finals); !searched) {
    return base::fail(searched.error());
  }
  const auto first = std::find_if(
      result_.all.begin(), result_.all.end(),
      [this](const Measurement& one) { return one.point == options_.first && !one.is_final; });
  const bool first_works = first != result_.all.end() && first->outcome == Outcome::kMeasured;
  if (first_works) compare_finalists(search.finalists(kFinalists, kWorth));
  if (first_works && has_finals) {
    if (auto on = search_on(search); !on) return base::fail(on.error());
  }
  if (failed_) return base::fail(*failed_);
  for (const tune::Search::Excluded& one : search.excluded()) {
    result_.all.push_back({.point = one.point,
                           .outcome = Outcome::kExcluded,
                           .reason = options_.space.text_of(one.by) + " ran out of memory"});
  }
  conclude(first_works);
  return std::move(result_);
}

}  // namespace pyrometer::cli
