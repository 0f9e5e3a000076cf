#include "cli/commands/gate.h"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>

#include "cli/exit_code_of.h"
#include "cli/input_guard.h"
#include "cli/message.h"
#include "cli/output_file.h"
#include "cli/recorded_trial.h"
#include "cli/scratch_folder.h"
#include "cli/text.h"
#include "cli/values.h"
#include "monitor/interrupts.h"
#include "output/gate_report.h"

namespace pyrometer::cli {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

Setter set_share(std::optional<double>& target) {
  return [&target](const std::string& value) -> std::string {
    const base::Result<double> share = verify::parse_share(value);
    if (!share) return share.error().message;
    target = *share;
    return "";
  };
}

// Why a baseline is not written over what is there; "" where nothing of worth is.
std::string why_not_replaced(const std::string& path) {
  std::error_code error;
  const bool data = std::filesystem::is_regular_file(path, error) &&
                    std::filesystem::file_size(path, error) > 0 && !error;
  if (!data) return {};
  const auto old = verify::read_baseline(path);
  if (old) return {};
  return path + " " + old.error().message + "; --save does not overwrite it";
}

// Of a run that tells nothing but that its command failed.
verify::RunSummary failed_run(std::string label, const TrialOutcome& outcome) {
  const std::string how = outcome.end.signal != 0
                              ? "signal " + std::to_string(outcome.end.signal)
                              : "exit code " + std::to_string(outcome.end.exit_code);
  verify::RunSummary run{.label = std::move(label)};
  run.failed = outcome.end.signal != 0 ? 128 + outcome.end.signal : outcome.end.exit_code;
  run.last_words = outcome.last_words;
  run.why_no_steps = "the command failed with " + how +
                     (outcome.last_words.empty() ? "" : ": " + outcome.last_words);
  run.why_no_memory = run.why_no_mfu = run.why_no_price = "its command failed";
  return run;
}

// What a fact's name may have been meant to be, for one that is none.
std::string near_fact(const std::string& requirement) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < model::kFactCount; ++i) {
    names.emplace_back(model::fact_info(static_cast<model::FactId>(i)).id);
  }
  const std::size_t begin = requirement.find_first_not_of(' ');
  const std::size_t end = requirement.find_first_of(" <>=!", begin);
  if (begin == std::string::npos) return {};
  return closest(requirement.substr(begin, end - begin), names);
}

ExitCode exit_code(verify::Verdict verdict) {
  switch (verdict) {
    case verify::Verdict::kPass:
      return ExitCode::kOk;
    case verify::Verdict::kInconclusive:
      return ExitCode::kInconclusive;
    case verify::Verdict::kFail:
      return ExitCode::kGateFailed;
    case verify::Verdict::kError:
      return ExitCode::kFailed;
  }
  return ExitCode::kFailed;
}

}  // namespace

std::string_view GateCommand::purpose() const {
  return "fail a build where training got slower, dearer or larger than it may";
}

std::vector<Example> GateCommand::examples() const {
  return {
      {"pyrometer gate --baseline perf.json --save -- python train.py --steps 200",
       "measure, a few times over, and write the baseline"},
      {"pyrometer gate --baseline perf.json --max-slowdown 3% -- python train.py --steps 200",
       "repeat the run until the limit is decided"},
      {"pyrometer gate --baseline perf.json --max-slowdown 3% run1.pyro run2.pyro",
       "judge recordings"},
      {"pyrometer gate --require 'input.wait_share < 5%' --require 'waterfall.busy >= 90%' "
       "run.pyro",
       "any fact of docs/reference/facts.md"},
      {"pyrometer gate --baseline perf.json --max-slowdown 3% --junit gate.xml --md run.pyro",
       "for CI: JUnit XML, and Markdown for a comment"},
  };
}

OptionGroup GateCommand::input_options() {
  OptionGroup input{.title = "Input", .options = {}};
  input.options.push_back({.value = "RUN",
                           .help = "recordings or traces to judge; or, after --, a command that is "
                                   "recorded as often as it takes",
                           .set = append_text(paths_),
                           .completes = Completes::kFiles,
                           .repeats = true});
  input.options.push_back({.long_name = "baseline",
                           .value = "FILE",
                           .help = "what to compare with: a JSON file that --save wrote",
                           .set = set_text(baseline_),
                           .completes = Completes::kFiles});
  input.options.push_back({.long_name = "save",
                           .help = "write the baseline from these runs instead of judging them",
                           .set = set_true(save_)});
  constexpr int kMostRuns = 100;
  input.options.push_back({.long_name = "runs",
                           .value = "N",
                           .help = "runs of the command at most (5); with --save so many",
                           .set = set_whole(runs_, 1, kMostRuns)});
  input.options.push_back({.long_name = "budget",
                           .value = "TIME",
                           .help = "start no further run, and end the present one, after so long: "
                                   "90s, 10m, 1h",
                           .set = set_duration(budget_s_)});
  for (Option& option : output_.price_options()) input.options.push_back(std::move(option));
  return input;
}

OptionGroup GateCommand::limit_options() {
  OptionGroup limits{.title = "Limits", .options = {}};
  limits.options.push_back({.long_name = "max-slowdown",
                            .value = "SHARE",
                            .help = "time per sample, or per step where samples are not known, "
                                    "against the baseline: 3%",
                            .set = set_share(limits_.max_slowdown)});
  limits.options.push_back({.long_name = "max-cost",
                            .value = "USD",
                            .help = "GPU cost of 1000 steps; needs a price",
                            .set = set_amount(limits_.max_cost, 0, 1e9, "a number of USD")});
  limits.options.push_back({.long_name = "max-memory",
                            .value = "SIZE",
                            .help = "peak memory of a device: 70GiB",
                            .set = [this](const std::string& value) -> std::string {
                              const base::Result<double> size = verify::parse_bytes(value);
                              if (!size) return size.error().message;
                              limits_.max_memory = *size;
                              return "";
                            }});
  limits.options.push_back({.long_name = "max-memory-growth",
                            .value = "SHARE",
                            .help = "peak memory against the baseline: 5%",
                            .set = set_share(limits_.max_memory_growth)});
  limits.options.push_back({.long_name = "min-mfu",
                            .value = "SHARE",
                            .help = "model FLOPs utilization: 40%; an error where it is not known",
                            .set = set_share(limits_.min_mfu)});
  limits.options.push_back(
      {.long_name = "require",
       .value = "FACT",
       .help = "a condition on a fact, such as 'input.wait_share < 5%'; may be "
               "given again. A fact without a value is an error",
       .set =
           [this](const std::string& value) {
             auto requirement = verify::parse_requirement(value);
             if (!requirement) {
               const base::Error& error = requirement.error();
               const std::string near =
                   error.kind == base::ErrorKind::kNotFound ? near_fact(value) : "";
               return error.message + (near.empty() ? "" : " (did you mean " + near + "?)");
             }
             limits_.requirements.push_back(std::move(*requirement));
             return std::string{};
           },
       .repeats = true});
  return limits;
}

std::vector<OptionGroup> GateCommand::options() {
  OptionGroup output = output_.options("gate-schema.md");
  output.options.push_back({.long_name = "junit",
                            .value = "FILE",
                            .help = "also write JUnit XML to FILE",
                            .set = set_text(junit_),
                            .completes = Completes::kFiles});
  output.options.push_back({.short_name = 'q',
                            .long_name = "no-progress",
                            .help = "say nothing on stderr meanwhile",
                            .set = set_true(no_progress_)});
  return {input_options(), limit_options(), output};
}

bool GateCommand::needs_baseline() const {
  return limits_.max_slowdown.has_value() || limits_.max_memory_growth.has_value();
}

std::string GateCommand::conflict() const {
  if (std::string wrong = output_.conflict(); !wrong.empty()) return wrong;
  const bool any = needs_baseline() || limits_.min_mfu || limits_.max_cost || limits_.max_memory ||
                   !limits_.requirements.empty();
  if (paths_.empty() == command_.empty()) return "give either runs or, after --, a command";
  if (save_ && baseline_.empty()) return "--save needs --baseline FILE to write to";
  if (save_ && any) return "--save judges nothing: leave the limits out";
  if (!save_ && !any) {
    return "no limit is given: --max-slowdown, --max-cost, --max-memory, --max-memory-growth, "
           "--min-mfu or --require";
  }
  if (needs_baseline() && baseline_.empty()) {
    return "--max-slowdown and --max-memory-growth need --baseline FILE";
  }
  return {};
}

std::string GateCommand::file_conflict() const {
  if (std::string wrong = given_twice(paths_); !wrong.empty()) return wrong;
  std::vector<std::string> inputs = paths_;
  std::vector<Output> outputs = {{"-o", output_.path()}, {"--junit", junit_}};
  if (save_) {
    outputs = {{"--baseline", baseline_}};
  } else {
    inputs.push_back(baseline_);
  }
  if (std::string wrong = overwrites(outputs, inputs); !wrong.empty()) return wrong;
  return save_ ? why_not_replaced(baseline_) : "";
}

base::Result<std::vector<verify::RunSummary>> GateCommand::runs_of_command(
    const LoadOptions& options, const verify::Baseline* baseline, bool& interrupted) const {
  const auto scratch = ScratchFolder::make();
  if (!scratch) return base::fail(scratch.error());
  const monitor::Interrupts interrupts;
  std::vector<verify::RunSummary> runs;
  const auto start = steady_clock::now();
  for (int i = 1; i <= runs_; ++i) {
    const double passed = duration<double>(steady_clock::now() - start).count();
    if (budget_s_ > 0 && passed >= budget_s_) break;
    TrialRequest request{.command = command_,
                         .recording = scratch->path() + "/" + std::to_string(i) + ".pyro",
                         .log = scratch->path() + "/" + std::to_string(i) + ".log"};
    if (budget_s_ > 0) {
      request.most = std::chrono::seconds(static_cast<long>(std::ceil(budget_s_ - passed)));
    }
    if (options.progress) print_note("run " + std::to_string(i) + " of " + std::to_string(runs_));
    const auto outcome = run_trial(request);
    if (!outcome) return base::fail(outcome.error());
    if (outcome->how == TrialEnd::kInterrupted) {
      interrupted = true;
      break;
    }
    if (outcome->how == TrialEnd::kOutOfTime) break;
    if (outcome->how == TrialEnd::kFailed) {
      verify::RunSummary failed = failed_run("run " + std::to_string(i), *outcome);
      if (save_) {
        return base::fail(
            {.kind = base::ErrorKind::kIo, .message = failed.why_no_steps, .file = ""});
      }
      // Judged all the same: what CI reads has to tell it.
      print_error(failed.why_no_steps);
      runs.push_back(std::move(failed));
      break;
    }
    base::Result<verify::RunSummary> run = load_run(request.recording, options);
    if (!run) {
      // The file is ours, and gone by the time that this is read.
      base::Error error = run.error();
      error.file.clear();
      error.message = "run " + std::to_string(i) + ": " + error.message;
      return base::fail(std::move(error));
    }
    run->label = "run " + std::to_string(i);
    runs.push_back(std::move(*run));
    if (save_ || runs.size() < 2) continue;
    if (verify::judge(baseline, runs, limits_).verdict != verify::Verdict::kInconclusive) {
      break;
    }
  }
  if (runs.empty() && !interrupted) {
    return base::fail({.kind = base::ErrorKind::kEmpty,
                       .message = "no run ended within the budget",
                       .file = "",
                       .advice = "Give a longer --budget or a shorter run"});
  }
  return runs;
}

ExitCode GateCommand::save(const std::vector<verify::RunSummary>& runs) const {
  for (const verify::RunSummary& run : runs) {
    if (run.failed != 0) {
      print_error(run.label + ": its command failed; a baseline is of sound runs");
      return ExitCode::kFailed;
    }
  }
  const base::Result<verify::Baseline> baseline = verify::make_baseline(runs);
  if (!baseline) {
    print_error(baseline.error().to_string());
    return exit_code_of(baseline.error());
  }
  const ExitCode code = replace_file(baseline_, [&](const base::TextSink& sink) {
    return verify::write_baseline(*baseline, sink);
  });
  if (code == ExitCode::kOk && !no_progress_ && baseline_ != "-") {
    print_note("saved the baseline of " + std::to_string(runs.size()) +
               (runs.size() == 1 ? " run" : " runs") + " to " + baseline_);
  }
  return code;
}

ExitCode GateCommand::run(const Terminal& terminal) {
  if (const std::string wrong = conflict(); !wrong.empty()) {
    print_error(wrong + ". See pyrometer gate --help");
    return ExitCode::kUsage;
  }
  if (const std::string wrong = file_conflict(); !wrong.empty()) {
    print_error(wrong);
    return ExitCode::kUsage;
  }
  const auto refuse = [](const base::Error& error) {
    print_error(error.to_string());
    return exit_code_of(error);
  };
  const base::Result<Config> config = output_.config();
  if (!config) return refuse(config.error());
  const base::Result<cost::Settings> cost = output_.cost(*config);
  if (!cost) return refuse(cost.error());
  std::optional<verify::Baseline> baseline;
  if (!baseline_.empty() && !save_) {
    base::Result<verify::Baseline> read = verify::read_baseline(baseline_);
    if (!read) return refuse(read.error());
    baseline = std::move(*read);
  }
  const LoadOptions options{.progress = terminal.stderr_is_terminal && !no_progress_,
                            .rules = config->rules,
                            .cost = *cost};
  if (!command_.empty() && runs_ > 2) {
    // A look after each run from the second on: together they err as often as one (Bonferroni).
    constexpr double kError = 0.05;
    limits_.level = 1 - kError / (runs_ - 1);
  }
  bool interrupted = false;
  const auto runs = command_.empty()
                        ? load_runs(paths_, options)
                        : runs_of_command(options, baseline ? &*baseline : nullptr, interrupted);
  if (!runs) return refuse(runs.error());
  if (save_ && interrupted) {
    print_error("interrupted after " + std::to_string(runs->size()) + " of " +
                std::to_string(runs_) + " runs: " + baseline_ + " was not written");
    return ExitCode::kInterrupted;
  }
  if (interrupted && runs->empty()) {
    print_error("interrupted before a run had ended");
    return ExitCode::kInterrupted;
  }
  if (save_) {
    if (!command_.empty() && runs->size() < static_cast<std::size_t>(runs_)) {
      print_warning("the budget ended early: the baseline is of " + std::to_string(runs->size()) +
                    " of " + std::to_string(runs_) + " runs");
    }
    return save(*runs);
  }
  const verify::GateResult result = verify::judge(baseline ? &*baseline : nullptr, *runs, limits_);
  ExitCode written = output_.write(
      output::gate_document(result),
      [&](const base::TextSink& sink) { return output::write_gate_json(result, sink); }, terminal);
  if (!junit_.empty()) {
    const ExitCode code = write_output(output::gate_junit(result), junit_);
    if (written == ExitCode::kOk) written = code;
  }
  if (written != ExitCode::kOk) return written;
  return interrupted ? ExitCode::kInterrupted : exit_code(result.verdict);
}

}  // namespace pyrometer::cli
