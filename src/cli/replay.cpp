#include "cli/replay.h"

#include <filesystem>
#include <utility>

#include "cli/recorded_rows.h"
#include "cli/values.h"
#include "recording/cast.h"

namespace pyrometer::cli {
namespace {

using sources::Absence;
using sources::Value;
using sources::replay::RecordedOptions;
using sources::replay::RecordedSource;

sources::ProcessOwner owner_of(const recording::CastMember& member, const std::string& file) {
  const auto none = [](std::string_view why) {
    return Value::missing(Absence::kNotApplicable, why);
  };
  sources::ProcessOwner owner;
  owner.user = owner.arguments = owner.container = owner.slurm_job = owner.pod_uid = owner.pod =
      owner.pod_namespace = owner.pod_container = none("recordings do not hold it");
  if (!member.program.empty()) owner.program = Value::text(member.program);
  owner.recording = member.is_recorded ? Value::text(file) : none("it was not recorded");
  owner.rank = member.rank >= 0 ? Value::number(member.rank) : none("it told no rank");
  return owner;
}

sources::OwnerLookup owners_of(recording::Cast cast, const std::string& file) {
  // Shared by the copies of the function.
  return [cast = std::make_shared<const recording::Cast>(std::move(cast)), file](
             int pid, bool) -> std::optional<sources::ProcessOwner> {
    const auto found = cast->processes.find(pid);
    return owner_of(found == cast->processes.end() ? recording::CastMember{} : found->second, file);
  };
}

// Plays nothing; its error says why in place of the readings.
class NoSource final : public sources::Source {
 public:
  explicit NoSource(base::Error error) : error_(std::move(error)) {}
  [[nodiscard]] std::string_view name() const override { return "recording"; }
  [[nodiscard]] std::span<const sources::Group> groups() const override { return {}; }
  [[nodiscard]] base::Result<void> start() override { return base::fail(error_); }
  [[nodiscard]] base::Result<void> sample(std::size_t, sources::Batch&) override {
    return base::fail(error_);
  }
  void stop() noexcept override {}

 private:
  base::Error error_;
};

// That the recording can be played from where it was asked for.
base::Result<void> check(const std::string& file, RecordedOptions options,
                         const std::string& no_gpu) {
  auto rows = open_recorded_rows(file);
  if (!rows) return base::fail(rows.error());
  auto started = RecordedSource(std::move(*rows), std::move(options)).start();
  if (started) return {};
  base::Error error = started.error();
  if (error.file.empty()) error.file = file;
  if (error.kind == base::ErrorKind::kEmpty) {
    error.expected = "a recording of a machine with a GPU whose driver could be asked";
    if (!no_gpu.empty()) error.message += ": while it was made, " + no_gpu;
  }
  return base::fail(std::move(error));
}

}  // namespace

std::string ReplayChoice::conflict(bool has_other_stand_in) const {
  if (file.empty())
    return from_s || speed != 1 ? "--replay-from and --replay-speed need --replay" : "";
  return has_other_stand_in ? "--replay and --demo exclude each other" : "";
}

std::vector<Option> replay_options(ReplayChoice& choice) {
  std::vector<Option> options;
  options.push_back({.long_name = "replay",
                     .value = "FILE",
                     .help = "play the GPUs of a recording (.pyro) instead of this machine's",
                     .set = set_text(choice.file),
                     .completes = Completes::kFiles});
  options.push_back({.long_name = "replay-from",
                     .value = "TIME",
                     .help = "begin this long after the recording's beginning: 90s, 5m, 2h",
                     .set = [&choice](const std::string& value) -> std::string {
                       constexpr double kLongest = 1e7;  // a third of a year
                       choice.from_s = parse_seconds(value);
                       const bool is_right = choice.from_s && *choice.from_s <= kLongest;
                       return is_right ? "" : "is no time like 90s, 5m or 2h";
                     },
                     .tier = Tier::kAdvanced});
  options.push_back({.long_name = "replay-speed",
                     .value = "FACTOR",
                     .help = "play this many times as fast as it was recorded (1)",
                     .set = [&choice](const std::string& value) -> std::string {
                       std::optional<double> speed;
                       std::string wrong =
                           set_amount(speed, 0.01, 1000, "a number from 0.01 to 1000")(value);
                       choice.speed = speed.value_or(1);
                       return wrong;
                     },
                     .tier = Tier::kAdvanced});
  return options;
}

base::Result<Replay> open_replay(const ReplayChoice& choice, bool at_end) {
  auto cast = recording::read_cast(choice.file);
  if (!cast) return base::fail(cast.error());
  RecordedOptions options{
      .speed = choice.speed, .from_ns = sources::replay::kFirstRound, .repeat = true};
  constexpr double kNsPerSecond = 1e9;
  if (choice.from_s) {
    options.from_ns = static_cast<std::int64_t>(*choice.from_s * kNsPerSecond);
  } else if (at_end) {
    options.from_ns.reset();
  }
  if (auto fits = check(choice.file, options, cast->no_gpu); !fits) return base::fail(fits.error());
  Replay replay{.file = choice.file, .played = options.played};
  const std::string name = std::filesystem::path(choice.file).filename();
  const auto make = [options, file = choice.file](
                        const sources::SourceOptions& wanted) -> std::unique_ptr<sources::Source> {
    auto rows = open_recorded_rows(file);
    if (!rows) return std::make_unique<NoSource>(rows.error());
    RecordedOptions own = options;
    own.devices = wanted.gpus;
    return std::make_unique<RecordedSource>(std::move(*rows), std::move(own));
  };
  std::function<std::int64_t()> moment;
  if (cast->unix_offset_ns) {
    moment = [at = options.played, offset = *cast->unix_offset_ns] {
      constexpr std::int64_t kMillisecond = 1'000'000;
      return at->load() / kMillisecond + offset / kMillisecond;
    };
  }
  replay.stand_in = std::make_shared<const sources::StandIn>(
      sources::StandIn{.host = name,
                       .no_signal = "it is one of a recording",
                       .owners = owners_of(std::move(*cast), name),
                       .unix_ms = std::move(moment),
                       .source = make});
  return replay;
}

}  // namespace pyrometer::cli
