#include "cli/commands/top.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "cli/common_options.h"
#include "cli/config_file.h"
#include "cli/exit_code_of.h"
#include "cli/install_paths.h"
#include "cli/message.h"
#include "cli/training_watch.h"
#include "cli/values.h"
#include "readout/host_watch.h"
#include "readout/live.h"
#include "sources/source.h"
#include "tui/loop.h"
#include "tui/terminal.h"

namespace pyrometer::cli {
namespace {

using namespace std::chrono_literals;

constexpr double kShortestInterval = 0.1;
constexpr double kLongestInterval = 3600;

ExitCode refuse(const std::string& why) {
  print_error("top needs a terminal that it can draw on: " + why +
              ". Use pyrometer stat --watch 1");
  return ExitCode::kUsage;
}

}  // namespace

std::string_view TopCommand::purpose() const {
  return "watch the GPUs, their processes and recorded trainings on a live screen";
}

std::vector<Example> TopCommand::examples() const {
  return {
      {"pyrometer top", "all GPUs and their processes; ? shows the keys"},
      {"pyrometer top --interval 0.5", "twice a second"},
      {"pyrometer top -i 0,1 --args", "two GPUs, processes with their arguments"},
      {"pyrometer top --demo", "a made-up fleet, to look around"},
      {"pyrometer top --replay run.pyro", "a recording, as it was while it was made"},
  };
}

std::vector<OptionGroup> TopCommand::options() {
  OptionGroup group{.title = "What to show", .options = {}};
  group.options.push_back(gpu_option(gpus_));
  group.options.push_back({.long_name = "interval",
                           .value = "SECONDS",
                           .help = "read the GPUs every SECONDS (1)",
                           .set = set_amount(interval_seconds_, kShortestInterval, kLongestInterval,
                                             "a number of seconds from 0.1 to 3600")});
  group.options.push_back(arguments_option(arguments_));
  group.options.push_back(root_option(root_));
  for (Option& option : demo_options(stand_in_)) group.options.push_back(std::move(option));
  for (Option& option : replay_options(replay_)) group.options.push_back(std::move(option));
  return {group};
}

ExitCode TopCommand::run(const Terminal& terminal) {
  if (const std::string wrong = replay_.conflict(stand_in_ != nullptr); !wrong.empty()) {
    print_error(wrong + ". See pyrometer top --help");
    return ExitCode::kUsage;
  }
  if (!terminal.stdin_is_terminal || !terminal.stdout_is_terminal) {
    return refuse("this is none");
  }
  const char* const type = std::getenv("TERM");
  if (type == nullptr || *type == 0) return refuse("TERM is not set");
  if (std::string_view(type) == "dumb") return refuse("TERM=dumb");
  const base::Result<Config> config = read_default_config();
  if (!config) {
    print_error(config.error().to_string());
    return ExitCode::kUsage;
  }

  std::optional<PlayedRecording> played;
  if (!replay_.file.empty()) {
    auto replay = open_replay(replay_, false);
    if (!replay) {
      print_error(replay.error().to_string());
      return exit_code_of(replay.error());
    }
    stand_in_ = replay->stand_in;
    played =
        PlayedRecording{.file = replay->file, .now = [at = replay->played] { return at->load(); }};
  }

  auto screen = tui::Terminal::open({.color = terminal.color,
                                     .unicode = terminal.unicode,
                                     .terminfo_folder = installed_file("terminfo")});
  if (!screen) return refuse(screen.error().message);

  constexpr double kNsPerSecond = 1e9;
  const double seconds = interval_seconds_.value_or(1);
  const std::chrono::nanoseconds interval(static_cast<std::int64_t>(seconds * kNsPerSecond));
  readout::LiveOptions live_options{.root = root_,
                                    .with_arguments = arguments_,
                                    // Somebody waits for the driver to come.
                                    .poller = {.period_scale = seconds, .last_retry = 5s}};
  if (stand_in_ != nullptr) {
    live_options.host = stand_in_->host;
    live_options.made_up = stand_in_->owners;
    live_options.unix_ms = stand_in_->unix_ms;
  }
  readout::Live live(sources::make_gpu_sources(
                         {.root = root_, .gpus = gpus_, .may_block = true, .stand_in = stand_in_}),
                     std::move(live_options));
  readout::HostWatch host(live, root_, std::max<std::chrono::nanoseconds>(interval, 1s));
  TrainingWatch trainings(root_, config->rules, played);
  base::Result<void> started = live.start();
  // Processes that are made up are not in /proc.
  if (stand_in_ == nullptr && started) started = host.start();
  if ((stand_in_ == nullptr || played) && started) started = trainings.start();
  if (!started) {
    screen->reset();
    print_error(started.error().to_string());
    return ExitCode::kFailed;
  }
  tui::LoopOptions options{.interval = interval};
  if (stand_in_ != nullptr) {
    options.no_signals = stand_in_->no_signal;
  } else if (!root_.empty()) {
    options.no_signals = "it was found below --root";
  }
  tui::run_screen(**screen, {live, host, [&] { return trainings.trainings(); }}, options);
  screen->reset();
  // Not through destructors: they would wait for a driver that hangs, or for a diagnosis.
  std::_Exit(static_cast<int>(ExitCode::kOk));
}

}  // namespace pyrometer::cli
