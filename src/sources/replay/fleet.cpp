#include "sources/replay/fleet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

namespace pyrometer::sources::replay {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr int kGenerations = 8;  // process ids that a slot takes in turn
constexpr std::int32_t kFirstPid = 600'000;
constexpr double kCrowdLives = 30;  // seconds
constexpr int kLargestCrowd = 10'000;

// A mean with two swings, and a pause at the beginning of each period. Both swings end where the
// period ends, so that all periods have the same integral.
struct Wave {
  double period, pause, paused;
  double mean;
  double swing1, time1, swing2, time2;

  [[nodiscard]] double at(double time) const {
    const double x = std::fmod(time, period);
    if (x < pause) return paused;
    return mean + swing1 * std::sin(kTurn * x / time1) + swing2 * std::sin(kTurn * x / time2);
  }
  [[nodiscard]] double within(double x) const {  // integral over the first part of a period
    if (x <= pause) return paused * x;
    const auto swing = [&](double size, double time) {
      return size * time / kTurn * (std::cos(kTurn * pause / time) - std::cos(kTurn * x / time));
    };
    return paused * pause + mean * (x - pause) + swing(swing1, time1) + swing(swing2, time2);
  }
  [[nodiscard]] double integral(double time) const {
    const double periods = std::floor(time / period);
    return periods * within(period) + within(time - periods * period);
  }
};

const Wave& wave_of(Load load) {
  // Training stops for a checkpoint every ten minutes.
  static constexpr Wave kTraining{600, 12, 0.02, 0.94, 0.035, 12, 0.02, 100};
  static constexpr Wave kInference{240, 0, 0, 0.38, 0.25, 60, 0.12, 16};
  static constexpr Wave kFull{60, 0, 0, 0.985, 0.01, 20, 0, 60};
  static constexpr Wave kIdle{60, 0, 0, 0, 0, 60, 0, 60};
  switch (load) {
    case Load::kTraining:
      return kTraining;
    case Load::kInference:
      return kInference;
    case Load::kFull:
      return kFull;
    case Load::kIdle:
      break;
  }
  return kIdle;
}

// SplitMix64: spreads neighbouring numbers over all 64 bits.
std::uint64_t mix(std::uint64_t number) {
  number += 0x9E3779B97F4A7C15;
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EB;
  return number ^ (number >> 31);
}
std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return mix(mix(mix(a) ^ b) ^ c);
}
// 0 to 1.
double share_of(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

bool is_active(const Fault& fault, double time) {
  if (time < fault.at_s) return false;
  const double since = time - fault.at_s;
  return (fault.every_s > 0 ? std::fmod(since, fault.every_s) : since) < fault.for_s;
}

std::string hex(std::uint64_t number, int digits) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int i = digits - 1; i >= 0; --i) text += kDigits[number >> (4 * i) & 0xF];
  return text;
}

}  // namespace

Fleet::Fleet(Script script) : script_(std::move(script)) {
  std::int32_t next = kFirstPid;
  for (std::size_t i = 0; i < script_.gpus.size(); ++i) {
    const auto gpu = static_cast<int>(i);
    phase_.push_back(600 * share_of(mix(script_.seed, i, 1)));
    for (const ScriptProcess& process : script_.gpus[i].processes) {
      ranges_.push_back({next, process.count, gpu, &process});
      next += process.count * kGenerations;
    }
    ranges_.push_back({next, kLargestCrowd, gpu, nullptr});
    next += kLargestCrowd * kGenerations;
  }
}

double Fleet::load(int gpu, double time) const {
  const auto at = static_cast<std::size_t>(gpu);
  return wave_of(script_.gpus[at].load).at(time + phase_[at]);
}

double Fleet::load_integral(int gpu, double time) const {
  const auto at = static_cast<std::size_t>(gpu);
  const Wave& wave = wave_of(script_.gpus[at].load);
  return wave.integral(time + phase_[at]) - wave.integral(phase_[at]);
}

double Fleet::watts(int gpu, double time) const {
  const ScriptGpu& which = script_.gpus[static_cast<std::size_t>(gpu)];
  return which.idle_w + load(gpu, time) * (which.power_limit_w * 0.98 - which.idle_w);
}

double Fleet::joules(int gpu, double time) const {
  const ScriptGpu& which = script_.gpus[static_cast<std::size_t>(gpu)];
  return which.idle_w * time +
         load_integral(gpu, time) * (which.power_limit_w * 0.98 - which.idle_w);
}

double Fleet::noise(int gpu, unsigned salt, double time) const {
  const auto second = static_cast<std::uint64_t>(std::max(time, 0.0));
  return 2 * share_of(mix(script_.seed + salt, static_cast<std::uint64_t>(gpu), second)) - 1;
}

const Fault* Fleet::active(FaultKind kind, int gpu, double time) const {
  for (const Fault& fault : script_.faults) {
    const bool concerns = fault.gpu < 0 || fault.gpu == gpu;
    if (fault.kind == kind && concerns && is_active(fault, time)) return &fault;
  }
  return nullptr;
}

bool Fleet::is_reloading(double time) const {
  return std::ranges::any_of(script_.faults, [&](const Fault& fault) {
    return fault.kind == FaultKind::kReload && is_active(fault, time);
  });
}

bool Fleet::is_lost(int gpu, double time) const {
  return active(FaultKind::kLost, gpu, time) != nullptr;
}

const std::vector<std::string>& Fleet::mig(int gpu, double time, int& set) const {
  const Fault* fault = active(FaultKind::kMig, gpu, time);
  set = fault == nullptr ? 0 : static_cast<int>(fault - script_.faults.data()) + 1;
  return fault == nullptr ? script_.gpus[static_cast<std::size_t>(gpu)].mig : fault->mig;
}

bool Fleet::is_missing(int gpu, unsigned salt, double time) const {
  const Fault* fault = active(FaultKind::kMissing, gpu, time);
  return fault != nullptr && (noise(gpu, salt + 1000, time) + 1) / 2 < fault->share;
}

int Fleet::last_xid(int gpu, double time, int& count) const {
  int last = 0;
  double newest = -1;
  count = 0;
  for (const Fault& fault : script_.faults) {
    const bool concerns = fault.gpu < 0 || fault.gpu == gpu;
    if (fault.kind != FaultKind::kXid || !concerns || time < fault.at_s) continue;
    const double times = fault.every_s > 0 ? std::floor((time - fault.at_s) / fault.every_s) : 0;
    count += static_cast<int>(times) + 1;
    const double begun = fault.at_s + times * fault.every_s;
    if (begun > newest) last = fault.count;
    newest = std::max(newest, begun);
  }
  return last;
}

std::vector<FleetProcess> Fleet::processes(int gpu, double time) const {
  std::vector<FleetProcess> all;
  for (const Range& range : ranges_) {
    if (range.gpu != gpu) continue;
    int count = range.count;
    double lives = kCrowdLives;
    if (range.script == nullptr) {
      const Fault* crowd = active(FaultKind::kProcesses, gpu, time);
      count = crowd == nullptr ? 0 : crowd->count;
    } else {
      lives = range.script->lives_s;
    }
    for (int slot = 0; slot < count; ++slot) {
      // They end one after another rather than all at once.
      const double offset = lives * slot / std::max(count, 1);
      const auto generation =
          lives > 0 ? static_cast<std::int64_t>((time + offset) / lives) % kGenerations : 0;
      const std::int64_t pid = range.first + slot * kGenerations + generation;
      all.push_back({static_cast<std::int32_t>(pid), range.script, slot});
    }
  }
  return all;
}

std::optional<ProcessOwner> Fleet::owner(std::int32_t pid, bool with_arguments) const {
  const auto range = std::ranges::find_if(ranges_, [pid](const Range& r) {
    return pid >= r.first && pid < r.first + r.count * kGenerations;
  });
  if (range == ranges_.end()) return std::nullopt;
  ProcessOwner owner;
  const auto none = [](std::string_view what) {
    return Value::missing(Absence::kNotApplicable, what);
  };
  const auto known = [&](const std::string& text, std::string_view otherwise) {
    return text.empty() ? none(otherwise) : Value::text(text);
  };
  const ScriptProcess* script = range->script;
  if (script == nullptr) {
    const int slot = (pid - range->first) / kGenerations;
    owner.user = Value::text(script_.host + "-user" + std::to_string(slot % 12));
    owner.program = Value::text("worker");
    owner.arguments = Value::text("worker " + std::to_string(slot));
    owner.container = none("not in a container");
    owner.slurm_job = none("no Slurm job");
    owner.pod = owner.pod_namespace = none("in no pod");
    owner.rank = none("no rank");
  } else {
    owner.user = Value::text(script->user);
    owner.program = Value::text(script->program);
    owner.arguments = Value::text(script->arguments.empty() ? script->program : script->arguments);
    owner.container = known(script->container, "not in a container");
    owner.slurm_job = known(script->slurm_job, "no Slurm job");
    owner.pod = known(script->pod, "in no pod");
    owner.pod_namespace = known(script->pod_namespace, "in no pod");
    const int slot = (pid - range->first) / kGenerations;
    const int place = script_.gpus[static_cast<std::size_t>(range->gpu)].in_group;
    owner.rank = script->first_rank < 0
                     ? none("no rank")
                     : Value::number(script->first_rank + place * script->count + slot);
  }
  owner.pod_uid = owner.pod_container = owner.recording = none("made up");
  if (!with_arguments) owner.arguments = none("not asked for");
  return owner;
}

OwnerLookup made_up_owners(const Script& script) {
  // Shared by the copies of the function.
  return [fleet = std::make_shared<const Fleet>(script)](int pid, bool with_arguments) {
    return fleet->owner(pid, with_arguments);
  };
}

std::string Fleet::uuid(int gpu, int mig_set, int instance) const {
  const auto which = static_cast<std::uint64_t>(gpu);
  const auto part = static_cast<std::uint64_t>(mig_set * 64 + instance + 1);
  const std::uint64_t high = mix(script_.seed, which, part * 2);
  const std::uint64_t low = mix(script_.seed, which, part * 2 + 1);
  return std::string(instance < 0 ? "GPU-" : "MIG-") + hex(high >> 32, 8) + "-" +
         hex(high >> 16, 4) + "-" + hex(high, 4) + "-" + hex(low >> 48, 4) + "-" + hex(low, 12);
}

}  // namespace pyrometer::sources::replay
