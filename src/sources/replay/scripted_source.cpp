#include "sources/replay/scripted_source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sources/device_choice.h"

namespace pyrometer::sources::replay {
namespace {

constexpr std::array kGroups = {Group{"fast", kFast}, Group{"slow", kSlow}, Group{"once", kOnce}};
enum : std::size_t { kFastGroup, kSlowGroup, kOnceGroup };
constexpr double kGiB = 1073741824;
constexpr double kReservedGib = 0.6;
constexpr double kCrowdGib = 0.004;  // of each process of a crowd

std::string pci_of(int gpu) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  // No real machine has its GPUs in this domain.
  return std::string("dead:") + kDigits[static_cast<std::size_t>(gpu)] + "0:00.0";
}

// "2g.35gb": GiB.
double gib_of(const std::string& profile) {
  const std::size_t dot = profile.find('.');
  return dot == std::string::npos ? 1
                                  : std::max(1.0, std::strtod(profile.c_str() + dot + 1, nullptr));
}

}  // namespace

struct ScriptedSource::Look {
  const Fleet& fleet;
  Batch& batch;
  Subject subject;
  int gpu;
  double time;
  std::int64_t now_ns;

  [[nodiscard]] const ScriptGpu& script() const {
    return fleet.script().gpus[static_cast<std::size_t>(gpu)];
  }
  void put(MetricId metric, Value value) const {
    batch.put(metric, subject, now_ns, std::move(value));
  }
  void text(MetricId metric, std::string value) const {
    put(metric, Value::text(std::move(value)));
  }
  void number(MetricId metric, double value) const { put(metric, Value::number(value)); }
  // A reading that a storm of missing ones may take.
  void measured(MetricId metric, double value) const {
    const bool gone = fleet.is_missing(gpu, static_cast<unsigned>(metric), time);
    put(metric, gone ? Value::missing(Absence::kNotAvailable, "the script leaves it out")
                     : Value::number(value));
  }
  [[nodiscard]] double noise(unsigned salt) const { return fleet.noise(gpu, salt, time); }

  void identity(int index) const;
  void utilization() const;
  void memory(double used_gib, double total_gib) const;
  void board(bool has_mig, double& watts) const;
  void throttling() const;
  void slow() const;
  void process(const FleetProcess& which) const;
};

void ScriptedSource::Look::identity(int index) const {
  text(MetricId::kGpuPciId, pci_of(gpu));
  number(MetricId::kGpuIndex, index);
  text(MetricId::kGpuVendor, "Demo");
  text(MetricId::kGpuDriverVersion, "demo");
}

// The parts of the GPU that are at work, as shares of how busy it is.
void ScriptedSource::Look::utilization() const {
  struct Part {
    MetricId metric;
    double share;
  };
  static constexpr Part kParts[] = {
      {MetricId::kGpuGraphicsActive, 0.98}, {MetricId::kGpuSmActive, 0.87},
      {MetricId::kGpuSmOccupancy, 0.31},    {MetricId::kGpuIntegerActive, 0.12},
      {MetricId::kGpuTensorActive, 0.52},   {MetricId::kGpuTensorHmmaActive, 0.52},
      {MetricId::kGpuDramActive, 0.38},     {MetricId::kGpuFp32Active, 0.09},
      {MetricId::kGpuFp16Active, 0.02},     {MetricId::kGpuFp64Active, 0},
      {MetricId::kGpuTensorDfmaActive, 0},  {MetricId::kGpuTensorDmmaActive, 0},
      {MetricId::kGpuTensorImmaActive, 0}};
  const double load = fleet.load(gpu, time);
  for (const Part& part : kParts) {
    const double wobble = 1 + 0.04 * noise(static_cast<unsigned>(part.metric));
    measured(part.metric, std::clamp(load * part.share * wobble, 0.0, 1.0));
  }
}

void ScriptedSource::Look::memory(double used_gib, double total_gib) const {
  const double used = std::min(used_gib, total_gib - kReservedGib);
  measured(MetricId::kGpuMemoryTotal, total_gib * kGiB);
  measured(MetricId::kGpuMemoryUsed, used * kGiB);
  measured(MetricId::kGpuMemoryFree, (total_gib - kReservedGib - used) * kGiB);
  measured(MetricId::kGpuMemoryReserved, kReservedGib * kGiB);
}

void ScriptedSource::Look::board(bool has_mig, double& watts) const {
  const ScriptGpu& which = script();
  const double load = fleet.load(gpu, time);
  const bool is_held = which.throttle != Throttle::kNone && load > 0.5;
  const double full = load > 0 ? (is_held ? 0.78 : 0.99) : 0.18;
  watts = std::clamp(fleet.watts(gpu, time) * (1 + 0.01 * noise(1)), 1.0, which.power_limit_w);
  if (has_mig) {
    const Value elsewhere =
        Value::missing(Absence::kNotSupported, "or not in MIG mode: see the instances");
    put(MetricId::kGpuUtil, elsewhere);
    put(MetricId::kGpuUtilMemory, elsewhere);
  } else {
    // In whole percent, as drivers give it.
    measured(MetricId::kGpuUtil, std::round(std::clamp(load * 1.04, 0.0, 1.0) * 100) / 100);
    measured(MetricId::kGpuUtilMemory, std::round(load * 38) / 100);
    utilization();
  }
  measured(MetricId::kGpuClockSm, std::round(which.clock_mhz * full / 15) * 15);
  measured(MetricId::kGpuClockMemory, which.memory_clock_mhz);
  const double hottest = which.throttle == Throttle::kThermal ? 89 : 68;
  const double celsius = 33 + (hottest - 33) * load + noise(2);
  measured(MetricId::kGpuTemperature, std::round(celsius));
  measured(MetricId::kGpuPstate, load > 0 ? 0 : 8);
  measured(MetricId::kGpuPower, watts);
  throttling();
}

void ScriptedSource::Look::throttling() const {
  const ScriptGpu& which = script();
  const double load = fleet.load(gpu, time);
  const bool power = which.throttle == Throttle::kPower && load > 0.5;
  const bool heat = which.throttle == Throttle::kThermal && load > 0.5;
  const bool idle = load == 0;
  measured(MetricId::kGpuThrottleMask, (idle ? 1 : 0) + (power ? 4 : 0) + (heat ? 32 : 0));
  measured(MetricId::kGpuThrottleIdle, idle ? 1 : 0);
  measured(MetricId::kGpuThrottlePowerCap, power ? 1 : 0);
  measured(MetricId::kGpuThrottleThermal, heat ? 1 : 0);
  for (const MetricId metric : {MetricId::kGpuThrottleHwThermal, MetricId::kGpuThrottleHwSlowdown,
                                MetricId::kGpuThrottlePowerBrake, MetricId::kGpuThrottleSyncBoost,
                                MetricId::kGpuThrottleAppClocks}) {
    measured(metric, 0);
  }
}

void ScriptedSource::Look::slow() const {
  const ScriptGpu& which = script();
  const double load = fleet.load(gpu, time);
  measured(MetricId::kGpuPowerLimit, which.power_limit_w);
  measured(MetricId::kGpuPowerAverage, fleet.watts(gpu, time));
  measured(MetricId::kGpuEnergy, fleet.joules(gpu, time));
  measured(MetricId::kGpuTemperatureMemory, std::round(38 + 40 * load));
  if (which.fan >= 0) {
    measured(MetricId::kGpuFan, std::round((0.3 + (which.fan - 0.3) * load) * 100) / 100);
  } else {
    put(MetricId::kGpuFan, Value::missing(Absence::kNotSupported));
  }
  measured(MetricId::kGpuPcieGeneration, load > 0 ? 5 : 1);
  measured(MetricId::kGpuPcieWidth, 16);
  measured(MetricId::kGpuPcieTx, load * 1.3e9 * (1 + 0.2 * noise(3)));
  measured(MetricId::kGpuPcieRx, load * 2.1e9 * (1 + 0.2 * noise(4)));
  const bool links = which.load == Load::kTraining;
  measured(MetricId::kGpuNvlinkTx, links ? load * 9.4e10 * (1 + 0.1 * noise(5)) : 0);
  measured(MetricId::kGpuNvlinkRx, links ? load * 9.4e10 * (1 + 0.1 * noise(6)) : 0);
  for (const MetricId metric :
       {MetricId::kGpuUtilEncoder, MetricId::kGpuUtilDecoder, MetricId::kGpuPcieReplays,
        MetricId::kGpuEccVolatileCorrected, MetricId::kGpuEccVolatileUncorrected,
        MetricId::kGpuEccAggregateCorrected, MetricId::kGpuEccAggregateUncorrected,
        MetricId::kGpuRemappedRowsCorrected, MetricId::kGpuRemappedRowsUncorrected,
        MetricId::kGpuRemapPending, MetricId::kGpuRemapFailed, MetricId::kGpuVgpuLicensed}) {
    measured(metric, 0);
  }
  const bool power = which.throttle == Throttle::kPower;
  const bool heat = which.throttle == Throttle::kThermal;
  const double held_ns = std::floor(fleet.load_integral(gpu, time) * 1e9);
  measured(MetricId::kGpuViolationPower, power ? held_ns : 0);
  measured(MetricId::kGpuViolationThermal, heat ? held_ns : 0);
}

void ScriptedSource::Look::process(const FleetProcess& which) const {
  Look of = *this;
  of.subject.scope = Scope::kDeviceProcess;
  of.subject.pid = which.pid;
  const ScriptProcess* script = which.script;
  of.measured(MetricId::kGpuProcessMemory,
              (script == nullptr ? kCrowdGib : script->memory_gib) * kGiB);
  of.number(MetricId::kGpuProcessCompute, script != nullptr && script->draws ? 0 : 1);
  of.measured(MetricId::kGpuProcessUtil,
              script == nullptr ? 0 : fleet.load(gpu, time) / script->count);
  of.text(MetricId::kGpuProcessName, script == nullptr ? "worker" : script->program);
}

ScriptedSource::ScriptedSource(ScriptedOptions options)
    : options_(std::move(options)), fleet_(options_.script), origin_ns_(options_.clock()) {
  for (int i = 0; i < static_cast<int>(fleet_.script().gpus.size()); ++i) {
    if (is_chosen(options_.devices,
                  {.index = i, .uuid = fleet_.uuid(i, 0, -1), .pci_id = pci_of(i)})) {
      gpus_.push_back({.number = i});
    }
  }
}

std::span<const Group> ScriptedSource::groups() const { return kGroups; }

double ScriptedSource::seconds() const {
  return static_cast<double>(options_.clock() - origin_ns_) * 1e-9;
}

base::Result<void> ScriptedSource::check_driver() const {
  if (!fleet_.is_reloading(seconds())) return {};
  return base::fail({.kind = base::ErrorKind::kIo,
                     .message = "the demonstration's driver is being reloaded",
                     .advice = "Wait: the script brings it back"});
}

base::Result<void> ScriptedSource::start() {
  if (gpus_.empty()) {
    return base::fail({.kind = base::ErrorKind::kNotFound,
                       .message = "none of the demonstration's GPUs is among those asked for"});
  }
  for (Gpu& gpu : gpus_) gpu.mig_set = -1;  // what everything is, is told anew
  return check_driver();
}

std::int32_t ScriptedSource::number_of(const std::string& uuid) {
  const auto found = std::ranges::find(known_, uuid);
  if (found != known_.end()) return static_cast<std::int32_t>(found - known_.begin());
  known_.push_back(uuid);
  return static_cast<std::int32_t>(known_.size()) - 1;
}

base::Result<void> ScriptedSource::sample(std::size_t group, Batch& batch) {
  if (auto works = check_driver(); !works) return works;
  const double time = seconds();
  for (Gpu& gpu : gpus_) sample_gpu(gpu, group, time, batch);
  return {};
}

void ScriptedSource::tell_changes(Gpu& gpu, const Look& look) {
  const bool lost = fleet_.is_lost(gpu.number, look.time);
  if (lost && !gpu.was_lost) {
    look.batch.tell(EventKind::kDeviceLost, look.subject, look.now_ns,
                    "the GPU has fallen off the bus (" + pci_of(gpu.number) + ")");
  } else if (!lost && gpu.was_lost) {
    gpu.mig_set = -1;
    look.batch.tell(EventKind::kDeviceBack, look.subject, look.now_ns,
                    "the GPU answers again (" + pci_of(gpu.number) + ")");
  }
  gpu.was_lost = lost;
  int count = 0;
  const int xid = fleet_.last_xid(gpu.number, look.time, count);
  if (count > gpu.xids) {
    look.batch.tell(EventKind::kXid, look.subject, look.now_ns, "Xid " + std::to_string(xid), xid);
  }
  gpu.xids = count;
}

void ScriptedSource::sample_gpu(Gpu& gpu, std::size_t group, double time, Batch& batch) {
  const std::string uuid = fleet_.uuid(gpu.number, 0, -1);
  const bool is_new = std::ranges::find(known_, uuid) == known_.end();
  Subject subject;  // by itself: made within the braces GCC 12 takes it for uninitialised
  subject.scope = Scope::kDevice;
  subject.device = number_of(uuid);
  const Look whole{fleet_, batch, subject, gpu.number, time, options_.clock()};
  if (is_new) batch.tell(EventKind::kDeviceFound, whole.subject, whole.now_ns, uuid);
  tell_changes(gpu, whole);
  whole.number(MetricId::kGpuLost, gpu.was_lost ? 1 : 0);
  int set = 0;
  const std::vector<std::string>& profiles = fleet_.mig(gpu.number, time, set);
  const bool identify =
      set != std::exchange(gpu.mig_set, set) || (group == kOnceGroup && options_.identify_always);
  if (identify) {
    whole.identity(gpu.number);
    whole.text(MetricId::kGpuUuid, uuid);
    whole.text(MetricId::kGpuName, whole.script().name);
    whole.number(MetricId::kGpuMigEnabled, profiles.empty() ? 0 : 1);
    whole.number(MetricId::kGpuMigInstances, static_cast<double>(profiles.size()));
    whole.number(MetricId::kGpuPowerLimitDefault, whole.script().power_limit_w);
    whole.number(MetricId::kGpuPowerLimitMax, whole.script().power_limit_w);
    whole.number(MetricId::kGpuClockSmMax, whole.script().clock_mhz);
    whole.number(MetricId::kGpuClockMemoryMax, whole.script().memory_clock_mhz);
    whole.number(MetricId::kGpuPcieGenerationMax, 5);
    whole.number(MetricId::kGpuPcieWidthMax, 16);
  }
  if (gpu.was_lost) return;
  sample_whole(gpu, group, whole, !profiles.empty());
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    sample_instance(gpu, group, whole, set, static_cast<int>(i), identify);
  }
}

void ScriptedSource::sample_whole(Gpu& gpu, std::size_t group, const Look& look, bool has_mig) {
  if (group == kOnceGroup) return;
  const std::vector<FleetProcess> processes = fleet_.processes(gpu.number, look.time);
  if (group == kFastGroup) {
    double used = 0;
    for (const FleetProcess& process : processes) {
      used += process.script == nullptr ? kCrowdGib : process.script->memory_gib;
    }
    double watts = 0;
    look.board(has_mig, watts);
    look.memory(used, look.script().memory_gib);
    gpu.energy.add(watts, look.now_ns);
    look.number(MetricId::kGpuEnergyPolled, gpu.energy.joules);
    return;
  }
  look.slow();
  int count = 0;
  look.number(MetricId::kGpuXid, fleet_.last_xid(gpu.number, look.time, count));
  look.measured(MetricId::kGpuProcesses, static_cast<double>(processes.size()));
  for (const FleetProcess& process : processes) look.process(process);
}

// Instances share their GPU's load; its processes are dealt out to them.
void ScriptedSource::sample_instance(const Gpu& gpu, std::size_t group, const Look& whole, int set,
                                     int instance, bool identify) {
  int same_set = 0;
  const std::vector<std::string>& profiles = fleet_.mig(gpu.number, whole.time, same_set);
  const std::string& profile = profiles[static_cast<std::size_t>(instance)];
  const std::string uuid = fleet_.uuid(gpu.number, set, instance);
  Look look = whole;
  look.subject.device = number_of(uuid);
  if (identify) {
    look.identity(gpu.number);
    look.text(MetricId::kGpuUuid, uuid);
    look.text(MetricId::kGpuName, look.script().name + " MIG " + profile);
    look.text(MetricId::kGpuParentUuid, fleet_.uuid(gpu.number, 0, -1));
    look.text(MetricId::kGpuMigProfile, profile);
    look.number(MetricId::kGpuGpuInstance, instance + 1);
    look.number(MetricId::kGpuComputeInstance, 0);
  }
  if (group == kOnceGroup) return;
  std::vector<FleetProcess> mine;
  for (const FleetProcess& process : fleet_.processes(gpu.number, whole.time)) {
    if (process.slot % static_cast<int>(profiles.size()) == instance) mine.push_back(process);
  }
  if (group == kFastGroup) {
    double used = 0;
    for (const FleetProcess& process : mine) {
      used += process.script == nullptr ? kCrowdGib : process.script->memory_gib;
    }
    look.utilization();
    look.memory(used, gib_of(profile));
    return;
  }
  look.measured(MetricId::kGpuProcesses, static_cast<double>(mine.size()));
  for (const FleetProcess& process : mine) look.process(process);
}

StandIn stand_in(Script script) {
  const auto shared = std::make_shared<const Script>(std::move(script));
  return {.host = shared->host,
          .no_signal = "it is made up",
          .owners = made_up_owners(*shared),
          .source = [shared](const SourceOptions& options) {
            return std::make_unique<ScriptedSource>(
                ScriptedOptions{.script = *shared,
                                .devices = options.gpus,
                                .identify_always = options.identify_always});
          }};
}

}  // namespace pyrometer::sources::replay
