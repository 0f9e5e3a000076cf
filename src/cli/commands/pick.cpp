#include "cli/commands/pick.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <thread>
#include <utility>

#include "base/json_writer.h"
#include "base/version.h"
#include "cli/become.h"
#include "cli/common_options.h"
#include "cli/message.h"
#include "cli/output_file.h"
#include "cli/values.h"
#include "readout/text.h"
#include "readout/time_text.h"

namespace pyrometer::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kMostGpus = 1024;
constexpr double kPercent = 100;

Setter set_bytes(std::optional<double>& target) {
  return [&target](const std::string& value) -> std::string {
    static constexpr std::array<Unit, 12> kUnits = {{{"GiB", 0x1p30},
                                                     {"MiB", 0x1p20},
                                                     {"TiB", 0x1p40},
                                                     {"GB", 1e9},
                                                     {"MB", 1e6},
                                                     {"TB", 1e12},
                                                     {"G", 0x1p30},
                                                     {"M", 0x1p20},
                                                     {"T", 0x1p40},
                                                     {"g", 0x1p30},
                                                     {"m", 0x1p20},
                                                     {"B", 1}}};
    const auto bytes = parse_with_unit(value, kUnits);
    if (!bytes) return "is no amount of memory with its unit, like 20GiB or 800MiB";
    target = bytes;
    return {};
  };
}

Setter set_share(double& target) {
  return [&target](const std::string& value) -> std::string {
    static constexpr std::array<Unit, 2> kUnits = {{{"%", 1}, {"", 1}}};
    const auto percent = parse_with_unit(value, kUnits);
    if (!percent || *percent > kPercent) return "is no share from 0% to 100%";
    target = *percent / kPercent;
    return {};
  };
}

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool is_of(const readout::Snapshot& snapshot, const readout::Device& device,
           const std::vector<std::string>& names) {
  if (names.empty()) return true;
  const std::string parent = readout::text_of(device, readout::MetricId::kGpuParentUuid);
  return std::ranges::any_of(names, [&](const std::string& name) {
    if (readout::is_called(device, name)) return true;
    // The name of a whole GPU stands for its instances.
    return !parent.empty() &&
           std::ranges::any_of(snapshot.devices, [&](const readout::Device& whole) {
             return readout::text_of(whole, readout::MetricId::kGpuUuid) == parent &&
                    readout::is_called(whole, name);
           });
  });
}

std::string gpus_text(int count) {
  return count == 1 ? "no GPU fits" : "fewer than " + std::to_string(count) + " GPUs fit";
}

void write_strings(base::JsonWriter& json, const std::vector<std::string>& texts) {
  json.begin_array(base::JsonLayout::kInline);
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

}  // namespace

std::string_view PickCommand::purpose() const {
  return "choose idle GPUs, and run a command on them or print how to";
}

std::vector<Example> PickCommand::examples() const {
  return {
      {"pyrometer pick -- python train.py", "run it on an idle GPU"},
      {"pyrometer pick --count 2 --wait=2h -- torchrun --nproc-per-node 2 train.py",
       "on two, as soon as they are idle"},
      {"pyrometer pick --min-free 20GiB --max-util 30% -- python eval.py",
       "share a GPU that has room"},
      {"eval \"$(pyrometer pick --export)\"", "for the commands of this shell"},
      {"CUDA_VISIBLE_DEVICES=$(pyrometer pick) python train.py", "the value alone"},
      {"pyrometer pick -- pyrometer run -- python train.py", "and record it"},
  };
}

OptionGroup PickCommand::wish_options() {
  OptionGroup group{.title = "Which GPUs", .options = {}};
  group.options.push_back({.short_name = 'n',
                           .long_name = "count",
                           .value = "N",
                           .help = "this many (1), all of one maker",
                           .set = set_whole(wish_.count, 1, kMostGpus)});
  group.options.push_back({.long_name = "min-free",
                           .value = "SIZE",
                           .help = "with this much free memory, like 20GiB, also where others "
                                   "compute; without it, those that nobody computes on",
                           .set = set_bytes(wish_.min_free)});
  group.options.push_back({.long_name = "max-util",
                           .value = "PERCENT",
                           .help = "busy for at most this share of the time (10%)",
                           .set = set_share(wish_.max_util)});
  group.options.push_back(
      {.long_name = "by",
       .value = "MEASURE",
       .help = "the best first: most free memory (free), least utilization (util), least power, "
               "lowest temperature, lowest number (index)",
       .set =
           [this](const std::string& value) {
             using readout::Order;
             wish_.order = value == "util"          ? Order::kUtil
                           : value == "power"       ? Order::kPower
                           : value == "temperature" ? Order::kTemperature
                           : value == "index"       ? Order::kIndex
                                                    : Order::kFree;
             return std::string{};
           },
       .completes = Completes::kWords,
       .words = {"free", "util", "power", "temperature", "index"}});
  group.options.push_back(gpu_option(gpus_));
  group.options.push_back({.long_name = "wait",
                           .value = "TIME",
                           .help = "wait until enough of them fit, for TIME (90s, 30m, 2h) at most",
                           .set = [this](const std::string& value) -> std::string {
                             waits_ = true;
                             patience_s_ = value.empty() ? std::nullopt : parse_seconds(value);
                             const bool is_wrong = !value.empty() && !patience_s_;
                             return is_wrong ? "is no time like 90s, 30m or 2h" : "";
                           },
                           .value_optional = true});
  group.options.push_back({.long_name = "sample",
                           .value = "TIME",
                           .help = "watch GPUs that may be in use for this long (1s) before they "
                                   "pass for idle; 0 looks once",
                           .set = [this](const std::string& value) -> std::string {
                             constexpr double kLongest = 60;
                             const auto seconds = parse_seconds(value);
                             if (!seconds || *seconds > kLongest) return "is no time up to 60s";
                             sample_s_ = *seconds;
                             return {};
                           },
                           .tier = Tier::kAdvanced});
  group.options.push_back({.long_name = "no-lock",
                           .help = "neither heed nor take the locks that keep two picks from "
                                   "choosing the same GPU",
                           .set = set_true(no_lock_),
                           .tier = Tier::kAdvanced});
  group.options.push_back(root_option(root_));
  for (Option& option : demo_options(stand_in_)) group.options.push_back(std::move(option));
  return group;
}

OptionGroup PickCommand::output_options() {
  OptionGroup group{.title = "Output, where there is no command", .options = {}};
  group.options.push_back(
      {.long_name = "export",
       .help = "print commands for a shell: eval \"$(pyrometer pick --export)\"",
       .set = set_true(export_)});
  group.options.push_back(
      {.long_name = "json", .help = "write choice and reasons as JSON", .set = set_true(json_)});
  group.options.push_back({.long_name = "ids",
                           .value = "KIND",
                           .help = "name GPUs by uuid or index; auto takes numbers where they are "
                                   "sure to mean the same to the program",
                           .set = set_text(ids_),
                           .completes = Completes::kWords,
                           .words = {"auto", "uuid", "index"}});
  group.options.push_back({.short_name = 'v',
                           .long_name = "verbose",
                           .help = "say what was chosen and why the others were not, on stderr",
                           .set = set_true(verbose_)});
  return group;
}

std::vector<OptionGroup> PickCommand::options() {
  OptionGroup what{.title = "Command", .options = {}};
  what.options.push_back({.value = "COMMAND",
                          .help = "what to run, with its arguments; put -- before it",
                          .set = append_text(command_),
                          .repeats = true});
  return {what, wish_options(), output_options()};
}

std::string PickCommand::conflict() const {
  if (export_ && json_) return "--export and --json exclude each other";
  if (!command_.empty() && (export_ || json_)) {
    return "--export and --json are for where there is no command";
  }
  return {};
}

bool PickCommand::knows_gpus(const readout::Snapshot& snapshot) const {
  std::string names;
  for (const std::string& name : gpus_) {
    const auto is_it = [&](const readout::Device& d) { return readout::is_called(d, name); };
    if (std::ranges::any_of(snapshot.devices, is_it)) continue;
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!names.empty()) print_error("no such GPU: " + names);
  return names.empty();
}

void PickCommand::judge(const readout::Judge& judge, Round& round) const {
  round.judged = judge.judge(round.snapshot);
  const std::vector<std::string> hidden = readout::hidden_by(round.snapshot, environment);
  for (std::size_t i = 0; i < round.judged.size(); ++i) {
    std::vector<std::string>& objections = round.judged[i].objections;
    if (!is_of(round.snapshot, round.snapshot.devices[i], gpus_)) {
      objections = {"not asked for by -i"};
    } else if (!hidden[i].empty()) {
      objections = {"hidden by " + hidden[i]};
    }
  }
}

// Of one maker alone: each has a runtime of its own.
void PickCommand::choose(const readout::Judge& judge, Round& round) const {
  using readout::Runtime;
  const auto count = static_cast<std::size_t>(wish_.count);
  bool is_told = no_lock_;
  for (const Runtime runtime : {Runtime::kCuda, Runtime::kRocm, Runtime::kAscend}) {
    for (const std::size_t i : judge.ranked(round.snapshot, round.judged)) {
      const readout::Device& device = round.snapshot.devices[i];
      if (readout::runtime_of(device) != runtime) continue;
      if (!no_lock_) {
        GpuLock lock;
        const auto outcome = lock.take(readout::device_key(device));
        if (!outcome && !is_told) print_warning(outcome.error().to_string());
        is_told = is_told || !outcome;
        if (outcome && *outcome == GpuLock::Outcome::kHeldByOther) {
          round.judged[i].objections.emplace_back("taken by another pyrometer pick");
          continue;
        }
        round.locks.push_back(std::move(lock));
      }
      round.chosen.push_back(i);
      if (round.chosen.size() == count) return;
    }
    round.chosen.clear();
    round.locks.clear();
  }
}

PickCommand::Round PickCommand::decide(readout::Collector& collector) const {
  constexpr auto kBetween = std::chrono::milliseconds(200);
  readout::Judge judge(wish_);
  Round round;
  const auto begin = Clock::now();
  while (true) {
    round.snapshot = collector.look();
    judge.look(round.snapshot);
    this->judge(judge, round);
    round.watched_s = Seconds(Clock::now() - begin).count();
    const double left = sample_s_ - round.watched_s;
    if (left <= 0 || !judge.wants_more(round.snapshot, round.judged)) break;
    std::this_thread::sleep_for(std::min<Seconds>(kBetween, Seconds(left)));
  }
  choose(judge, round);
  return round;
}

PickCommand::Round PickCommand::decide_or_wait(readout::Collector& collector) const {
  constexpr auto kPeriod = std::chrono::seconds(1);
  const auto begin = Clock::now();
  for (bool is_first = true;; is_first = false) {
    Round round = decide(collector);
    if (!waits_ || !round.chosen.empty()) return round;
    // Names that are wrong do not come right by waiting, nor does a machine without GPUs.
    if (is_first && (round.snapshot.problem || round.snapshot.devices.empty())) return round;
    const double waited = Seconds(Clock::now() - begin).count();
    if (patience_s_ && waited >= *patience_s_) return round;
    if (is_first) {
      std::fputs(("pyrometer: waiting: " + gpus_text(wish_.count) + " yet\n").c_str(), stderr);
    }
    const Seconds left(patience_s_ ? *patience_s_ - waited : 1);
    std::this_thread::sleep_for(std::min<Seconds>(kPeriod, left));
  }
}

readout::Grant PickCommand::granted(const Round& round) const {
  const readout::Ids ids = ids_ == "uuid"    ? readout::Ids::kUuid
                           : ids_ == "index" ? readout::Ids::kIndex
                                             : readout::Ids::kAuto;
  // A value that is printed alone cannot take the order along.
  const bool with_order = !command_.empty() || export_ || json_;
  return readout::grant(round.snapshot, round.chosen, ids, with_order);
}

std::string PickCommand::table(const Round& round, const Terminal& terminal) const {
  return readout::choice_table(round.snapshot, round.judged, round.chosen,
                               {.unicode = terminal.unicode, .width = terminal.width});
}

std::string PickCommand::document(const Round& round) const {
  std::string text;
  base::JsonWriter json([&text](std::string_view part) {
    text += part;
    return true;
  });
  const readout::Grant grant = granted(round);
  json.begin_object();
  json.member("schema", "pyrometer.pick/1");
  json.key("tool");
  json.begin_object(base::JsonLayout::kInline);
  json.member("name", "pyrometer");
  json.member("version", base::version());
  json.end_object();
  json.member("time", readout::utc_text(round.snapshot.unix_ms));
  json.member("host", round.snapshot.host);
  json.member("fits", !round.chosen.empty());
  json.key("problem");
  if (round.snapshot.problem) {
    json.value(readout::problem_text(*round.snapshot.problem));
  } else {
    json.null();
  }
  json.member("watched_s", round.watched_s);
  json.key("environment");
  json.begin_object();
  for (const auto& [name, value] : grant.to_set) json.member(name, value);
  json.end_object();
  json.key("chosen");
  std::vector<std::string> labels;
  for (const std::size_t i : round.chosen) {
    labels.push_back(readout::label_of(round.snapshot.devices[i]));
  }
  write_strings(json, labels);
  json.key("devices");
  json.begin_array();
  for (std::size_t i = 0; i < round.snapshot.devices.size(); ++i) {
    const readout::Device& device = round.snapshot.devices[i];
    json.begin_object(base::JsonLayout::kInline);
    json.member("label", readout::label_of(device));
    json.member("key", readout::device_key(device));
    json.member("name", readout::text_of(device, readout::MetricId::kGpuName));
    json.member("chosen", std::ranges::count(round.chosen, i) > 0);
    json.member("util", round.judged[i].util);
    json.member("memory_free", readout::number_of(device, readout::MetricId::kGpuMemoryFree));
    json.key("objections");
    write_strings(json, round.judged[i].objections);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  static_cast<void>(json.finish());
  return text;
}

ExitCode PickCommand::refuse(const Round& round, const Terminal& terminal) const {
  ExitCode written = ExitCode::kOk;
  if (json_) written = write_output(document(round));
  // What evaluates this shall not go on as if all were well: on every GPU.
  if (export_) written = write_output("false\n");
  if (written != ExitCode::kOk) return written;
  if (round.snapshot.problem) {
    print_error(readout::problem_text(*round.snapshot.problem));
    return ExitCode::kFailed;
  }
  print_error(gpus_text(wish_.count) + (patience_s_ && waits_ ? ", still" : "") + ":");
  std::fputs(table(round, terminal).c_str(), stderr);
  return ExitCode::kNoneFits;
}

ExitCode PickCommand::give(Round& round, const Terminal& terminal) const {
  const readout::Grant grant = granted(round);
  if (verbose_) std::fputs(table(round, terminal).c_str(), stderr);
  if (!command_.empty()) {
    for (const auto& [name, value] : grant.to_set) ::setenv(name.c_str(), value.c_str(), 1);
    for (GpuLock& lock : round.locks) lock.pass_on();
    become(command_);
  }
  if (json_) return write_output(document(round));
  if (!export_) return write_output(grant.value + "\n");
  std::string line = "export";
  for (const auto& [name, value] : grant.to_set) line += " " + name + "=" + value;
  return write_output(line + "\n");
}

ExitCode PickCommand::run(const Terminal& terminal) {
  if (const std::string wrong = conflict(); !wrong.empty()) {
    print_error(wrong + ". See pyrometer pick --help");
    return ExitCode::kUsage;
  }
  std::optional<Round> round;
  {
    // All GPUs, whichever are asked for: a program's numbers count all of them.
    readout::Collector collector({.root = root_, .stand_in = stand_in_});
    if (!gpus_.empty()) {
      const readout::Snapshot first = collector.look();
      if (!first.problem && !knows_gpus(first)) return ExitCode::kFailed;
    }
    round.emplace(decide_or_wait(collector));
  }  // gives the driver back before this process becomes another
  return round->chosen.empty() ? refuse(*round, terminal) : give(*round, terminal);
}

}  // namespace pyrometer::cli
