#include "cli/commands/tune.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/exit_code_of.h"
#include "cli/message.h"
#include "cli/output_file.h"
#include "cli/power_sweep.h"
#include "cli/recording_name.h"
#include "cli/tune_session.h"
#include "cli/values.h"
#include "monitor/interrupts.h"
#include "output/html_document.h"
#include "output/svg_chart.h"
#include "output/tune_report.h"
#include "recording/tune_file.h"
#include "sources/nvml/visible_gpus.h"

namespace pyrometer::cli {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::steady_clock;

// Of the budget; the rest is for comparing the best with the first configuration.
constexpr double kSearchShare = 0.6;

// So long that each of a small space gets its turn within the search's time, if starting takes
// little.
double trial_length(double budget_s, const tune::Space& space) {
  constexpr double kFewest = 8;
  constexpr double kRoom = 1.3;
  constexpr double kShortest = 2;
  constexpr double kLongest = 20;
  const double trials = std::clamp(static_cast<double>(space.size()), kFewest,
                                   static_cast<double>(tune::kExhaustive));
  return std::clamp(kSearchShare * budget_s / (kRoom * trials), kShortest, kLongest);
}

Setter set_number(std::optional<double>& target) {
  constexpr double kMost = 1e12;
  return set_amount(target, -kMost, kMost, "a number");
}

// A new file without a trial that worked is nothing to go on with.
void drop_if_empty(const recording::TuneFile& file) {
  for (const recording::TuneRow& row : file.rows()) {
    if (row.outcome == "measured") return;
  }
  std::error_code ignored;
  for (const char* ending : {"", "-wal", "-shm"}) {
    std::filesystem::remove(file.path() + ending, ignored);
  }
}

bool is_page(const std::string& file) { return file.ends_with(".html"); }

ExitCode write_report(const std::string& file, const tune::TuneResult& result) {
  return replace_file(file, [&](const base::TextSink& sink) {
    const std::string chart = output::tune_chart(result);
    if (is_page(file))
      return output::write_html_document(output::tune_document(result), chart, sink);
    return sink(chart.empty() ? output::SvgChart().finish() : chart);
  });
}

std::string present_folder() {
  std::error_code error;
  return std::filesystem::current_path(error).string();
}

}  // namespace

std::string_view TuneCommand::purpose() const {
  return "search settings of a training, by trials of a few seconds";
}

std::vector<Example> TuneCommand::examples() const {
  const std::string common = "-- python train.py --batch-size {batch} --workers {workers}";
  return {
      {"pyrometer tune --space 'batch=64,128,256; workers=2..8' " + common,
       "values take the place of {batch} and {workers}"},
      {"pyrometer tune --space 'loader.workers=0..8; env:OMP_NUM_THREADS=1,2,4' -- python train.py",
       "an override, with no edit, and a variable of the environment"},
      {"pyrometer tune --space 'batch=8..512 log' --objective samples_per_usd --price 2.5 -- "
       "python train.py --batch-size {batch}",
       "for money; a range that doubles"},
      {"pyrometer tune --space 'lr=1e-4..1e-1 log' --target-loss 0.5 --trial-time 60s --budget 1h "
       "-- python train.py --lr {lr}",
       "the time until the loss is 0.5"},
      {"pyrometer tune --resume train-tune-20261201-101500.pyro", "go on after Ctrl-C"},
  };
}

OptionGroup TuneCommand::search_options() {
  constexpr int kMostTrials = 10000;
  constexpr int kMostSeed = 1000000000;
  OptionGroup group{.title = "Search", .options = {}};
  group.options.push_back({.value = "COMMAND",
                           .help = "what to run, with its arguments and a {name} where a value "
                                   "goes ({{ for a brace); put -- before it",
                           .set = append_text(words_.command),
                           .repeats = true});
  group.options.push_back(
      {.long_name = "space",
       .value = "SPACE",
       .help = "what to search: 'name=values; name=values'. Values are a list (32,64) of words, "
               "numbers and ranges (2..16, 0..1:0.25, 8..512 log). A name is that of a {name}, of "
               "an override, or env:NAME. See docs/reference/tune.md",
       .set = set_text(words_.space)});
  std::vector<std::string> objectives;
  for (const tune::ObjectiveInfo& info : tune::objective_table()) objectives.emplace_back(info.id);
  group.options.push_back({.long_name = "objective",
                           .value = "NAME",
                           .help = "what shall be best: samples_per_second (without this), "
                                   "steps_per_second, samples_per_usd, samples_per_joule or "
                                   "time_to_loss",
                           .set = set_text(words_.objective),
                           .completes = Completes::kWords,
                           .words = objectives});
  group.options.push_back({.long_name = "target-loss",
                           .value = "LOSS",
                           .help = "search for the least time until the loss is so low",
                           .set = set_number(words_.target_loss)});
  group.options.push_back({.long_name = "samples-per-step",
                           .value = "COUNT",
                           .help = "samples of a step of the whole job, where the hook does not "
                                   "see them: a number, {batch}, {batch}*{accumulation}*8",
                           .set = set_text(words_.samples)});
  group.options.push_back({.long_name = "first",
                           .value = "VALUES",
                           .help = "what to compare with, as 'batch=64; workers=4'; else the first "
                                   "value of each list",
                           .set = set_text(words_.first)});
  group.options.push_back({.long_name = "budget",
                           .value = "TIME",
                           .help = "time for all of it (10m): 90s, 10m, 1h",
                           .set = set_duration(budget_s_)});
  group.options.push_back({.long_name = "trials",
                           .value = "N",
                           .help = "try at most N configurations",
                           .set = set_whole(words_.trials, 2, kMostTrials)});
  group.options.push_back({.long_name = "save",
                           .value = "FILE",
                           .help = "keep the results in FILE, a new .pyro file; without it, in one "
                                   "named after the program",
                           .set = set_text(save_),
                           .completes = Completes::kFiles});
  group.options.push_back({.long_name = "resume",
                           .value = "FILE",
                           .help = "go on with the search whose results are in FILE",
                           .set = set_text(resume_),
                           .completes = Completes::kFiles});
  group.options.push_back({.long_name = "seed",
                           .value = "N",
                           .help = "another order of trials (1)",
                           .set = set_whole(words_.seed, 0, kMostSeed),
                           .tier = Tier::kAdvanced});
  group.options.push_back({.long_name = "memory-grows-with",
                           .value = "NAME",
                           .help = "larger values of this dimension need more memory, so none is "
                                   "tried above one that ran out of it; none: no such dimension. "
                                   "Without it, those that are named so, like batch",
                           .set = append_text(words_.memory),
                           .tier = Tier::kAdvanced,
                           .repeats = true});
  return group;
}

OptionGroup TuneCommand::trial_options() {
  OptionGroup group{.title = "Trials", .options = {}};
  group.options.push_back(place_.copy_option());
  group.options.push_back({.long_name = "trial-time",
                           .value = "TIME",
                           .help = "longest length of a trial from its first step on; without it, "
                                   "by the budget",
                           .set = set_duration(words_.seconds)});
  constexpr int kMostParallel = 64;
  group.options.push_back({.long_name = "parallel",
                           .value = "N",
                           .help =
                               "run N trials of the search side by side, each with a GPU of its "
                               "own; the best are compared one at a time all the same",
                           .set = set_whole(parallel_, 1, kMostParallel)});
  group.options.push_back({.long_name = "allow-power-limit",
                           .help = "let the dimension power_limit (in watts) set that of the GPUs, "
                                   "which needs the right to; what was set comes back at the end",
                           .set = set_true(allow_power_limit_)});
  group.options.push_back(place_.patience_option());
  group.options.push_back(place_.keep_option());
  for (Option& option : output_.price_options()) group.options.push_back(std::move(option));
  return group;
}

std::vector<OptionGroup> TuneCommand::options() {
  OptionGroup output = output_.options("tune-schema.md");
  output.options.push_back({.long_name = "report",
                            .value = "FILE",
                            .help = "also write a page with the charts to FILE (.html), or the "
                                    "charts alone (.svg)",
                            .set = set_text(report_),
                            .completes = Completes::kFiles});
  output.options.push_back({.short_name = 'q',
                            .long_name = "no-progress",
                            .help = "say nothing on stderr meanwhile",
                            .set = set_true(quiet_)});
  return {search_options(), trial_options(), output};
}

base::Result<std::vector<std::string>> TuneCommand::slots(const TunePlan& plan) const {
  if (parallel_ == 1) return std::vector<std::string>{};
  const auto refuse = [](std::string message) {
    return base::fail({.kind = base::ErrorKind::kUsage, .message = std::move(message), .file = ""});
  };
  if (plan.command.sets_power_limit()) {
    return refuse("--parallel does not go with power_limit: each trial sets that of all GPUs");
  }
  if (plan.space.find("env:CUDA_VISIBLE_DEVICES") != nullptr) {
    return refuse("--parallel sets CUDA_VISIBLE_DEVICES itself, which the space does as well");
  }
  auto gpus = sources::nvml::gpu_names(sources::nvml::open_nvml);
  if (!gpus) {
    gpus.error().message = "--parallel gives each trial a GPU of its own: " + gpus.error().message;
    return gpus;
  }
  const auto count = static_cast<std::size_t>(parallel_);
  if (gpus->size() < count) {
    return refuse("--parallel " + std::to_string(parallel_) +
                  " needs as many GPUs that programs see here, of which there are " +
                  std::to_string(gpus->size()));
  }
  gpus->resize(count);
  return gpus;
}

std::string TuneCommand::conflict() const {
  if (std::string wrong = output_.conflict(); !wrong.empty()) return wrong;
  if (!report_.empty() && !is_page(report_) && !report_.ends_with(".svg")) {
    return "--report " + report_ + " ends neither in .html nor in .svg";
  }
  if (!resume_.empty()) {
    if (!save_.empty()) return "--save and --resume exclude each other";
    if (words_ != TuneWords{}) {
      return "--resume goes on with the command and the options that the search began with: leave "
             "them out";
    }
    return "";
  }
  if (words_.space.empty()) return "no --space given";
  if (words_.command.empty()) return "no COMMAND given";
  return "";
}

ExitCode TuneCommand::run(const Terminal& terminal) {
  const auto refuse = [](const base::Error& error) {
    print_error(error.to_string());
    return exit_code_of(error);
  };
  if (const std::string wrong = conflict(); !wrong.empty()) {
    print_error(wrong + ". See pyrometer tune --help");
    return ExitCode::kUsage;
  }
  std::optional<recording::TuneFile> file;
  if (!resume_.empty()) {
    auto opened = recording::TuneFile::open(resume_);
    if (!opened) return refuse(opened.error());
    file = std::move(*opened);
    auto words = words_of(file->settings(), resume_);
    if (!words) return refuse(words.error());
    words_ = std::move(*words);
    const auto folder = file->settings().find("folder");
    if (folder != file->settings().end() && folder->second != present_folder()) {
      print_warning("the search began in " + folder->second +
                    ": what its command names by relative paths is looked for here now");
    }
  }
  base::Result<TunePlan> plan = make_plan(words_);
  if (!plan) return refuse(plan.error());
  const base::Result<Config> config = output_.config();
  if (!config) return refuse(config.error());
  const base::Result<cost::Settings> cost = output_.cost(*config);
  if (!cost) return refuse(cost.error());
  if (plan->objective == tune::Objective::kSamplesPerUsd && !cost->price && !cost->prices) {
    print_error("--objective samples_per_usd needs a price: give --price USD or --prices FILE");
    return ExitCode::kUsage;
  }
  const base::Result<std::vector<std::string>> gpus = slots(*plan);
  if (!gpus) return refuse(gpus.error());
  std::optional<PowerSweep> sweep;
  if (plan->command.sets_power_limit()) {
    if (!allow_power_limit_) {
      print_error(
          "power_limit changes a setting of the GPUs for everybody who uses them: add "
          "--allow-power-limit if that may be");
      return ExitCode::kUsage;
    }
    auto begun = PowerSweep::begin(*plan->space.find(tune::kPowerLimit));
    if (!begun) return refuse(begun.error());
    sweep.emplace(std::move(*begun));
  }
  if (words_.seconds <= 0) words_.seconds = trial_length(budget_s_, plan->space);
  const auto scratch = place_.make_scratch();
  if (!scratch) return refuse(scratch.error());
  const monitor::Interrupts interrupts;
  const auto folder = place_.make_folder(*scratch);
  if (!folder) {
    const ExitCode code = refuse(folder.error());
    return monitor::Interrupts::signal() != 0 ? ExitCode::kInterrupted : code;
  }
  if (!file) {
    auto settings = settings_of(words_);
    settings["folder"] = present_folder();
    auto made = recording::TuneFile::create(
        save_.empty() ? new_recording_name(words_.command, "tune") : save_, settings);
    if (!made) return refuse(made.error());
    file = std::move(*made);
  }
  const auto start = steady_clock::now();
  const auto after = [start](double s) {
    return start + duration_cast<steady_clock::duration>(duration<double>(s));
  };
  const bool speaks = !quiet_ && terminal.stderr_is_terminal;
  TuneSession session({.trials = {.command = {},
                                  .scratch = scratch->path(),
                                  .folder = *folder,
                                  .patience = place_.patience(words_.seconds),
                                  .deadline = after(budget_s_)},
                       .space = plan->space,
                       .command = plan->command,
                       .first = plan->first,
                       .objective = plan->objective,
                       .steps_will_do = plan->steps_will_do,
                       .target_loss = words_.target_loss,
                       .samples = plan->samples,
                       .seed = static_cast<std::uint64_t>(words_.seed),
                       .most = static_cast<std::size_t>(words_.trials),
                       .grows_memory = plan->grows_memory,
                       .seconds = words_.seconds,
                       .search_deadline = after(kSearchShare * budget_s_),
                       .load = {.rules = config->rules, .cost = *cost},
                       .gpus = *gpus,
                       .set_power_limit = [&sweep](double watts) { return sweep->set(watts); },
                       .keep = place_.keeps(),
                       .say =
                           [speaks](const std::string& what) {
                             if (speaks) print_error(what);
                           }},
                      *file);
  base::Result<tune::TuneResult> result = session.run();
  bool restored = true;
  if (sweep) {
    if (auto ended = sweep->end(); !ended) {
      print_error(ended.error().to_string());
      restored = false;
    }
  }
  if (!result) {
    const bool stopped = monitor::Interrupts::signal() != 0;
    const ExitCode code = refuse(result.error());
    if (resume_.empty()) drop_if_empty(*file);
    return stopped ? ExitCode::kInterrupted : code;
  }
  if (resume_.empty() && result->tried.empty()) drop_if_empty(*file);
  result->notes.insert(result->notes.begin(), plan->notes.begin(), plan->notes.end());
  const ExitCode written = output_.write(
      output::tune_document(*result),
      [&](const base::TextSink& sink) { return output::write_tune_json(*result, sink); }, terminal);
  const ExitCode reported = report_.empty() ? ExitCode::kOk : write_report(report_, *result);
  if (written != ExitCode::kOk) return written;
  if (reported != ExitCode::kOk) return reported;
  if (!restored) return ExitCode::kFailed;
  if (result->interrupted) return ExitCode::kInterrupted;
  return result->verdict == tune::Verdict::kNoneWorks ? ExitCode::kFailed : ExitCode::kOk;
}

}  // namespace pyrometer::cli
