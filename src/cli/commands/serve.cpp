#include "cli/commands/serve.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "cli/common_options.h"
#include "cli/exit_code_of.h"
#include "cli/message.h"
#include "cli/recorded_ranks.h"
#include "cli/values.h"
#include "sources/source.h"

namespace pyrometer::cli {
namespace {

std::chrono::nanoseconds seconds(double number) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(number));
}

}  // namespace

std::string_view ServeCommand::purpose() const {
  return "serve what the GPUs and the recorded trainings do, for Prometheus and other programs";
}

std::vector<Example> ServeCommand::examples() const {
  return {
      {"pyrometer serve", "on http://127.0.0.1:9400: /metrics, /api/v1/gpus, /healthz …"},
      {"pyrometer serve --listen 0.0.0.0:9400 --token-file token", "for other machines"},
      {"pyrometer serve --listen unix:/run/pyrometer/http.sock", "on a socket of this machine"},
      {"pyrometer serve --recordings /data/runs --price 2.50",
       "with the recordings that are being written there, and what they cost"},
      {"curl -s localhost:9400/api/v1/stream", "a line of JSON for every second"},
  };
}

OptionGroup ServeCommand::listen_options() {
  OptionGroup group{.title = "Where to listen, and who may ask", .options = {}};
  group.options.push_back({.long_name = "listen",
                           .value = "ADDRESS",
                           .help = "HOST:PORT or unix:PATH, may be given several times "
                                   "(127.0.0.1:9400)",
                           .set =
                               [this](const std::string& value) {
                                 return server::parse_address(value, listen_.emplace_back());
                               },
                           .repeats = true});
  group.options.push_back({.long_name = "token-file",
                           .value = "FILE",
                           .help = "ask for the bearer token in FILE, which its owner alone may "
                                   "read",
                           .set = set_text(token_file_),
                           .completes = Completes::kFiles});
  group.options.push_back({.long_name = "tls-cert",
                           .value = "FILE",
                           .help = "serve https with this certificate (PEM, with its chain)",
                           .set = set_text(certificate_),
                           .completes = Completes::kFiles});
  group.options.push_back({.long_name = "tls-key",
                           .value = "FILE",
                           .help = "the certificate's key (PEM)",
                           .set = set_text(key_),
                           .completes = Completes::kFiles});
  group.options.push_back({.long_name = "insecure",
                           .help = "listen beyond this machine without token and TLS",
                           .set = set_true(insecure_),
                           .tier = Tier::kAdvanced});
  return group;
}

OptionGroup ServeCommand::metric_options() {
  OptionGroup group{.title = "What to serve", .options = {}};
  group.options.push_back(gpu_option(gpus_));
  group.options.push_back({.long_name = "no-processes",
                           .help = "leave processes and their owners out",
                           .set = set_true(no_processes_)});
  group.options.push_back({.long_name = "no-dcgm",
                           .help = "leave out the metrics under DCGM's names",
                           .set = set_true(no_dcgm_)});
  group.options.push_back({.long_name = "dcgm-hostname-label",
                           .value = "NAME",
                           .help = "the label that DCGM's exporter calls Hostname, and newer ones "
                                   "hostname",
                           .set = set_text(hostname_label_),
                           .completes = Completes::kWords,
                           .words = {"Hostname", "hostname"},
                           .tier = Tier::kAdvanced});
  constexpr double kShortestAge = 1;
  constexpr double kLongestAge = 3600;
  group.options.push_back(
      {.long_name = "max-age",
       .value = "SECONDS",
       .help = "while a driver hangs, go on with the values read last for this "
               "long (30), then leave them out",
       .set = set_amount(max_age_, kShortestAge, kLongestAge, "a number of seconds from 1 to 3600"),
       .tier = Tier::kAdvanced});
  group.options.push_back(root_option(root_));
  for (Option& option : demo_options(stand_in_)) group.options.push_back(std::move(option));
  for (Option& option : replay_options(replay_)) group.options.push_back(std::move(option));
  return group;
}

OptionGroup ServeCommand::recording_options() {
  OptionGroup group{.title = "Recordings", .options = {}};
  group.options.push_back({.long_name = "recordings",
                           .value = "DIR",
                           .help = "watch the recordings in DIR, may be given several times; "
                                   "without it, those that pyrometer run is writing",
                           .set = append_text(recordings_),
                           .completes = Completes::kFiles,
                           .repeats = true});
  for (Option& option : cost_options(cost_)) group.options.push_back(std::move(option));
  for (Option& option : economy_options(cost_)) group.options.push_back(std::move(option));
  group.options.push_back(config_option(config_path_));
  constexpr double kShortestPeriod = 1;
  constexpr double kLongestPeriod = 86400;
  group.options.push_back({.long_name = "analysis-period",
                           .value = "SECONDS",
                           .help = "look at recordings every SECONDS (30)",
                           .set = set_amount(analysis_period_, kShortestPeriod, kLongestPeriod,
                                             "a number of seconds from 1 to 86400"),
                           .tier = Tier::kAdvanced});
  return group;
}

std::vector<OptionGroup> ServeCommand::options() {
  return {listen_options(), metric_options(), recording_options()};
}

std::string ServeCommand::conflict() const {
  if (certificate_.empty() != key_.empty()) return "--tls-cert and --tls-key need each other";
  if (!replay_.file.empty() && !recordings_.empty()) {
    return "--replay and --recordings exclude each other";
  }
  return replay_.conflict(stand_in_ != nullptr);
}

server::ServeOptions ServeCommand::serve_options(const Config& config,
                                                 cost::Settings settings) const {
  server::ServeOptions options;
  options.listen = listen_;
  if (options.listen.empty()) {
    static_cast<void>(server::parse_address("127.0.0.1:9400", options.listen.emplace_back()));
  }
  options.token_file = token_file_;
  if (!certificate_.empty()) options.tls = server::TlsFiles{certificate_, key_};
  options.insecure = insecure_;
  options.site.metrics = {
      .processes = !no_processes_, .dcgm = !no_dcgm_, .dcgm_hostname_label = hostname_label_};
  if (max_age_) options.site.max_age = seconds(*max_age_);
  options.recordings.folders = recordings_;
  options.recordings.played = replay_.file;
  options.recordings.root = root_;
  options.recordings.rules = config.rules;
  options.recordings.cost = std::move(settings);
  if (analysis_period_) options.recordings.period = seconds(*analysis_period_);
  return options;
}

ExitCode ServeCommand::serve(server::Server& server) const {
  readout::LiveOptions live_options{
      .root = root_, .with_processes = !no_processes_, .rank_of = recorded_ranks(root_)};
  if (stand_in_ != nullptr) {
    live_options.host = stand_in_->host;
    live_options.made_up = stand_in_->owners;
    live_options.unix_ms = stand_in_->unix_ms;
  }
  readout::Live live(
      sources::make_gpu_sources({.root = root_, .gpus = gpus_, .stand_in = stand_in_}),
      std::move(live_options));
  const std::vector<std::string> urls = server.urls();
  const auto ready = [&urls] {
    // To stderr: this program has no results but what it serves.
    for (const std::string& url : urls) {
      std::fputs(("pyrometer: serving on " + url + "\n").c_str(), stderr);
    }
    server::notify_service_manager("READY=1");
  };
  const auto served = server.run(live, ready);
  server::notify_service_manager("STOPPING=1");
  if (served) return ExitCode::kOk;
  print_error(served.error().to_string());
  return ExitCode::kFailed;
}

ExitCode ServeCommand::run(const Terminal&) {
  if (const std::string wrong = conflict(); !wrong.empty()) {
    print_error(wrong + ". See pyrometer serve --help");
    return ExitCode::kUsage;
  }
  const base::Result<Config> config =
      config_path_.empty() ? read_default_config() : read_config(config_path_);
  if (!config) {
    print_error(config.error().to_string());
    return ExitCode::kUsage;
  }
  auto settings = cost_settings(cost_, *config);
  if (!settings) {
    print_error(settings.error().to_string());
    return ExitCode::kUsage;
  }
  if (!replay_.file.empty()) {
    auto replay = open_replay(replay_, false);
    if (!replay) {
      print_error(replay.error().to_string());
      return exit_code_of(replay.error());
    }
    stand_in_ = replay->stand_in;
  }
  server::block_ending_signals();
  auto server = server::Server::open(serve_options(*config, std::move(*settings)));
  if (!server) {
    print_error(server.error().to_string());
    return server.error().kind == base::ErrorKind::kUsage ? ExitCode::kUsage : ExitCode::kFailed;
  }
  const ExitCode code = serve(**server);
  server->reset();  // removes sockets
  // A call into a driver that hangs is left behind with its thread: nothing may be torn down below
  // it.
  ::_exit(static_cast<int>(code));
}

}  // namespace pyrometer::cli
