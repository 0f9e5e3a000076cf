#include "cli/commands/run.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/become.h"
#include "cli/common_options.h"
#include "cli/install_paths.h"
#include "cli/message.h"
#include "cli/override_option.h"
#include "cli/recording_name.h"
#include "cli/values.h"
#include "monitor/session.h"
#include "ring/layout.h"

namespace pyrometer::cli {
namespace {

constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

// "0.5%" or "0.5": percent of the run's time, 0 to 100.
Setter set_percent(double& target) {
  return [&target](const std::string& value) -> std::string {
    std::string_view text = value;
    if (text.ends_with('%')) text.remove_suffix(1);
    double percent = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
    if (error != std::errc() || end != text.data() + text.size() || !(percent >= 0) ||
        percent > 100) {
      return "is no share of the run's time, like 0.5%";
    }
    target = percent;
    return {};
  };
}

void write_stderr(const std::string& text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

bool within_recording() {
  const char* session = std::getenv(ring::kSessionVariable);
  return session != nullptr && *session != 0 && monitor::session_is_live(session);
}

}  // namespace

std::string_view RunCommand::purpose() const {
  return "record an unmodified training run and say where its time went";
}

std::vector<Example> RunCommand::examples() const {
  return {
      {"pyrometer run -- python train.py", "record, then say what to change"},
      {"pyrometer run --price 2.50 -- python train.py --epochs 3", "with money"},
      {"pyrometer run -o base.pyro -- torchrun --nproc-per-node 2 train.py", "every rank"},
      {"pyrometer run --with loader.workers=8 --with precision.tf32 -- python train.py",
       "with changes that need no edit of the code"},
      {"pyrometer run --overhead 0.2% -- python train.py", "cost at most 0.2% of the run's time"},
      {"pyrometer analyze base.pyro", "look at a recording again, also while it grows"},
  };
}

std::vector<OptionGroup> RunCommand::options() {
  OptionGroup what{.title = "Command", .options = {}};
  what.options.push_back({.value = "COMMAND",
                          .help = "what to run, with its arguments; put -- before it",
                          .set = append_text(command_),
                          .required = true,
                          .repeats = true});
  what.options.push_back(
      override_option("with", "change this of the training with no edit of its code", with_));
  OptionGroup recording{.title = "Recording", .options = {}};
  recording.options.push_back({.short_name = 'o',
                               .long_name = "output",
                               .value = "FILE",
                               .help = "write the recording to FILE instead of "
                                       "NAME-DATE-TIME.pyro in the current folder",
                               .set = set_text(output_),
                               .completes = Completes::kFiles});
  recording.options.push_back({.long_name = "overhead",
                               .value = "PERCENT",
                               .help = "spend at most this share of the run's time on watching the "
                                       "GPU (0.5%); 0 watches always and does not measure",
                               .set = set_percent(overhead_percent_)});
  recording.options.push_back({.long_name = "record-args",
                               .help = "keep the command's arguments in the recording",
                               .set = set_true(record_arguments_)});
  recording.options.push_back({.long_name = "measure-overhead",
                               .help = "watch the GPU in every other moment all run long, to "
                                       "measure what watching costs",
                               .set = set_true(measure_overhead_),
                               .tier = Tier::kAdvanced});
  recording.options.push_back(
      {.long_name = "count-flops",
       .help = "count the FLOPs of one step, for MFU: that step runs slower",
       .set = set_true(count_flops_),
       .tier = Tier::kAdvanced});
  recording.options.push_back({.long_name = "no-hook",
                               .help = "do not load the Python hook",
                               .set = set_true(no_hook_),
                               .tier = Tier::kAdvanced});
  recording.options.push_back({.long_name = "no-gpu-timeline",
                               .help = "do not load the library that watches the GPU",
                               .set = set_true(no_gpu_),
                               .tier = Tier::kAdvanced});
  OptionGroup report{.title = "Report", .options = {}};
  report.options.push_back({.short_name = 'q',
                            .long_name = "quiet",
                            .help = "say nothing but errors; the recording is written all the same",
                            .set = set_true(quiet_)});
  for (Option& option : cost_options(cost_)) report.options.push_back(std::move(option));
  for (Option& option : economy_options(cost_)) report.options.push_back(std::move(option));
  report.options.push_back(config_option(config_path_));
  return {what, recording, report};
}

monitor::MonitorOptions RunCommand::monitor_options(const Terminal& terminal) const {
  monitor::MonitorOptions options;
  options.command = command_;
  options.output = output_.empty() ? new_recording_name(command_) : output_;
  if (!no_gpu_) options.library = installed_file("libpyrometer_inject.so");
  if (!no_hook_) options.hook_folder = installed_file("hook/site");
  options.record_arguments = record_arguments_;
  options.count_flops = count_flops_;
  options.trial.with = with_;
  constexpr double kPercent = 100;
  options.recorder.overhead_budget = overhead_percent_ / kPercent;
  options.recorder.measure_overhead = measure_overhead_;
  if (!quiet_ && terminal.stderr_is_terminal) {
    options.status = terminal.stdout_is_terminal ? monitor::StatusLine::Place::kTitle
                                                 : monitor::StatusLine::Place::kLine;
  }
  return options;
}

// By a process of its own: whatever a diagnosis costs or meets, the command's exit code stands.
// Returns whether it could be made.
bool RunCommand::show_report(const Terminal& terminal, const std::string& file) const {
  std::vector<std::string> words{own_program(), "analyze", "--no-progress", "--no-hints", file};
  for (std::string& word : words_of(cost_)) words.push_back(std::move(word));
  if (!config_path_.empty()) {
    words.emplace_back("--config");
    words.push_back(config_path_);
  }
  if (terminal.asked != ColorChoice::kAuto) {
    words.emplace_back("--color");
    words.emplace_back(terminal.asked == ColorChoice::kAlways ? "always" : "never");
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(kNotFound);
  }
  int status = -1;
  if (pid > 0) ::waitpid(pid, &status, 0);
  return status == 0;
}

// Said before the command has run for days. What is wrong in the config file is the report's
// business: it keeps no command from running.
std::string RunCommand::wrong_cost_options() const {
  if (words_of(cost_).empty()) return {};
  const base::Result<Config> config =
      config_path_.empty() ? read_default_config() : read_config(config_path_);
  if (!config) return {};
  const base::Result<cost::Settings> settings = cost_settings(cost_, *config);
  return settings ? std::string() : settings.error().to_string();
}

void RunCommand::report(const Terminal& terminal, const monitor::Outcome& outcome,
                        const std::string& file) const {
  bool shown = false;
  if (outcome.processes == 0 && outcome.processes_without_room == 0) {
    print_warning(
        "no process of the command was recorded: none used CUDA or trained with PyTorch, or it "
        "cleared its environment (python -I and -E do)");
  } else if (outcome.processes_trained > 0) {
    write_stderr("\n");  // apart from what the command printed
    shown = show_report(terminal, file);
  } else if (outcome.processes > 0) {
    print_warning("no training was seen: neither work on a GPU nor training steps");
  }
  write_stderr(shown ? "\npyrometer: recorded in " + file +
                           ". To see more of it: pyrometer analyze -v " + file + "\n"
                     : "pyrometer: recorded in " + file + "\n");
}

ExitCode RunCommand::run(const Terminal& terminal) {
  if (within_recording()) {
    if (!quiet_) print_warning("already within a recorded run, which records this command as well");
    for (const std::string& setting : monitor::trial_environment({.with = with_})) {
      const std::size_t equals = setting.find('=');
      ::setenv(setting.substr(0, equals).c_str(), setting.c_str() + equals + 1, 1);
    }
    become(command_);  // the outer recording takes it as well
  }
  if (const std::string wrong = wrong_cost_options(); !wrong.empty()) {
    print_error(wrong);
    return ExitCode::kUsage;
  }
  monitor::MonitorOptions options = monitor_options(terminal);
  if (!no_gpu_ && options.library.empty()) {
    print_warning("libpyrometer_inject.so is not beside this program: no GPU timeline");
  }
  options.on_problem = [](const base::Error& error) {
    print_error("the run is not recorded: " + error.to_string());
  };
  if (!quiet_) options.on_warning = [](const std::string& text) { print_warning(text); };
  if (!with_.empty() && (options.hook_folder.empty() || options.library.empty())) {
    print_warning("--with changes nothing here: the Python hook is not loaded");
  }
  if (count_flops_ && (options.hook_folder.empty() || options.library.empty())) {
    print_warning("--count-flops counts nothing here: the Python hook is not loaded");
  }
  const base::Result<monitor::Outcome> outcome = monitor::record(options);
  if (!outcome) {
    print_error(outcome.error().to_string());
    std::_Exit(outcome.error().kind == base::ErrorKind::kNotFound ? kNotFound : kCannotRun);
  }
  try {
    if (!quiet_) {
      for (const std::string& note : outcome->notes) print_warning(note);
    }
    if (outcome->recorded && outcome->recording_error) {
      print_error("the run was not recorded to its end: " + outcome->recording_error->to_string());
    }
    if (outcome->recorded && !quiet_) report(terminal, *outcome, options.output);
  } catch (const std::exception&) {
    // Memory has run out: the command's exit code is what counts.
  }
  monitor::end_like(outcome->end);
}

}  // namespace pyrometer::cli
