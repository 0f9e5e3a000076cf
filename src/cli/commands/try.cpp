#include "cli/commands/try.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/exit_code_of.h"
#include "cli/folder_copy.h"
#include "cli/message.h"
#include "cli/override_option.h"
#include "cli/scratch_folder.h"
#include "cli/try_session.h"
#include "cli/values.h"
#include "monitor/interrupts.h"
#include "output/try_report.h"

namespace pyrometer::cli {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::seconds;
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
  group.options.push_back({.long_name = "copy",
                           .help = "run the trials in a copy of the present folder, so that what "
                                   "they write is not left there",
                           .set = set_true(copy_)});
  group.options.push_back({.long_name = "trial-time",
                           .value = "TIME",
                           .help = "length of a trial from its first step on; without it, by the "
                                   "budget",
                           .set = set_duration(seconds_),
                           .tier = Tier::kAdvanced});
  group.options.push_back({.long_name = "patience",
                           .value = "TIME",
                           .help = "a trial that makes no step for so long is ended as hung",
                           .set = set_duration(patience_s_),
                           .tier = Tier::kAdvanced});
  group.options.push_back({.long_name = "keep",
                           .help = "keep the folder with recordings and output of the trials",
                           .set = set_true(keep_),
                           .tier = Tier::kAdvanced});
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
  auto scratch = ScratchFolder::make();
  if (!scratch) return refuse(scratch.error());
  if (keep_) {
    scratch->keep();
    print_warning("the trials are kept in " + scratch->path());
  }
  const monitor::Interrupts interrupts;
  const auto deadline =
      steady_clock::now() + duration_cast<steady_clock::duration>(duration<double>(budget_s_));
  std::string folder;
  if (copy_) {
    folder = scratch->path() + "/work";
    if (const std::string failed = copy_present_folder(folder, scratch->path()); !failed.empty()) {
      print_error(failed);
      return monitor::Interrupts::signal() != 0 ? ExitCode::kInterrupted : ExitCode::kFailed;
    }
  }
  // Some thirty trials fit into the budget, as long as starting takes little.
  constexpr double kTrials = 30;
  constexpr double kShortest = 2;
  constexpr double kLongest = 30;
  const double length =
      seconds_ > 0 ? seconds_ : std::clamp(budget_s_ / kTrials, kShortest, kLongest);
  constexpr double kPatience = 60;
  const double patience = patience_s_ > 0 ? patience_s_ : std::max(kPatience, 4 * length);
  const bool speaks = !quiet_ && terminal.stderr_is_terminal;
  TrySession session({.trials = {.command = command_,
                                 .scratch = scratch->path(),
                                 .folder = folder,
                                 .patience = seconds(static_cast<long>(std::ceil(patience))),
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
