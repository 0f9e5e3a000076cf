#include "cli/commands/try.h"

#include <algorithm>
#include <chrono>

#include "cli/exit_code_of.h"
#include "cli/message.h"
#include "cli/override_option.h"
#include "cli/try_session.h"
#include "cli/values.h"
#include "monitor/interrupts.h"
#include "output/try_report.h"

namespace pyrometer::cli {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::steady_clock;

}  // namespace

std::string_view TryCommand::purpose() const {
  return "apply fixes to a training with no edit of its code, and measure what they bring";
}

std::vector<Example> TryCommand::examples() const {
  return {
      {"pyrometer try -- python train.py", "what the findings ask for, then the best together"},
      {"pyrometer try --allow-numerics -- python train.py",
       "also what changes rounding: TF32, AMP"},
      {"pyrometer try --fix loader.workers=8 --budget 5m -- python train.py", "just this"},
      {"pyrometer try --copy -- python train.py", "in a copy of the present folder"},
      {"pyrometer try --list", "what can be changed, and how"},
  };
}

OptionGroup TryCommand::trial_options() {
  OptionGroup group{.title = "Trials", .options = {}};
  group.options.push_back({.value = "COMMAND",
                           .help = "what to run, with its arguments; put -- before it",
                           .set = append_text(command_),
                           .repeats = true});
  group.options.push_back(
      override_option("fix", "try this, and only what is given so; may be given again", fixes_));
  group.options.push_back({.long_name = "budget",
                           .value = "TIME",
                           .help = "time for all of it (10m): 90s, 10m, 1h",
                           .set = set_duration(budget_s_)});
  group.options.push_back({.long_name = "list",
                           .help = "list what can be changed, and run nothing",
                           .set = set_true(list_)});
  group.options.push_back({.long_name = "allow-numerics",
                           .help = "also try what changes numbers, if only by rounding; the loss "
                                   "is watched all the same",
                           .set = set_true(allow_numerics_)});
  group.options.push_back(place_.copy_option());
  group.options.push_back({.long_name = "trial-time",
                           .value = "TIME",
                           .help = "length of a trial from its first step on; without it, by the "
                                   "budget",
                           .set = set_duration(seconds_),
                           .tier = Tier::kAdvanced});
  group.options.push_back(place_.patience_option());
  group.options.push_back(place_.keep_option());
  for (Option& option : output_.price_options()) group.options.push_back(std::move(option));
  return group;
}

std::vector<OptionGroup> TryCommand::options() {
  OptionGroup output = output_.options("try-schema.md");
  output.options.push_back({.short_name = 'q',
                            .long_name = "no-progress",
                            .help = "say nothing on stderr meanwhile",
                            .set = set_true(quiet_)});
  return {trial_options(), output};
}

ExitCode TryCommand::run(const Terminal& terminal) {
  const auto refuse = [](const base::Error& error) {
    print_error(error.to_string());
    return exit_code_of(error);
  };
  std::string wrong = output_.conflict();
  if (wrong.empty() && command_.empty() && !list_) wrong = "no COMMAND given";
  if (!wrong.empty()) {
    print_error(wrong + ". See pyrometer try --help");
    return ExitCode::kUsage;
  }
  if (list_) {
    return output_.write(output::overrides_document(), output::write_overrides_json, terminal);
  }
  const base::Result<Config> config = output_.config();
  if (!config) return refuse(config.error());
  const base::Result<cost::Settings> cost = output_.cost(*config);
  if (!cost) return refuse(cost.error());
  const auto scratch = place_.make_scratch();
  if (!scratch) return refuse(scratch.error());
  const monitor::Interrupts interrupts;
  const auto deadline =
      steady_clock::now() + duration_cast<steady_clock::duration>(duration<double>(budget_s_));
  const auto folder = place_.make_folder(*scratch);
  if (!folder) {
    const ExitCode code = refuse(folder.error());
    return monitor::Interrupts::signal() != 0 ? ExitCode::kInterrupted : code;
  }
  // Some thirty trials fit into the budget, as long as starting takes little.
  constexpr double kTrials = 30;
  constexpr double kShortest = 2;
  constexpr double kLongest = 30;
  const double length =
      seconds_ > 0 ? seconds_ : std::clamp(budget_s_ / kTrials, kShortest, kLongest);
  const bool speaks = !quiet_ && terminal.stderr_is_terminal;
  TrySession session({.trials = {.command = command_,
                                 .scratch = scratch->path(),
                                 .folder = *folder,
                                 .patience = place_.patience(length),
                                 .deadline = deadline},
                      .fixes = fixes_,
                      .allow_numerics = allow_numerics_,
                      .seconds = length,
                      .load = {.rules = config->rules, .cost = *cost},
                      .say = [speaks](const std::string& what) {
                        if (speaks) print_error("trying " + what);
                      }});
  const base::Result<verify::TryResult> result = session.run();
  if (!result) {
    const bool stopped = monitor::Interrupts::signal() != 0;
    const ExitCode code = refuse(result.error());
    return stopped ? ExitCode::kInterrupted : code;
  }
  const ExitCode written = output_.write(
      output::try_document(*result),
      [&](const base::TextSink& sink) { return output::write_try_json(*result, sink); }, terminal);
  return written == ExitCode::kOk && result->interrupted ? ExitCode::kInterrupted : written;
}

}  // namespace pyrometer::cli
