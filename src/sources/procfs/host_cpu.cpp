#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "sources/procfs/host_source.h"

namespace pyrometer::sources {
namespace {

const Subject kHost{.scope = Scope::kHost};

// "user nice system idle iowait irq softirq steal guest guest_nice"; user includes guest.
CpuTimes parse_times(std::string_view line) {
  std::array<std::uint64_t, 8> ticks{};
  for (auto& value : ticks) value = take_number(line).value_or(0);
  return {.user = ticks[0] + ticks[1],
          .system = ticks[2] + ticks[5] + ticks[6],
          .idle = ticks[3],
          .iowait = ticks[4],
          .steal = ticks[7]};
}

// The kernel lets idle and iowait go back now and then.
std::uint64_t growth(std::uint64_t now, std::uint64_t before) {
  return now > before ? now - before : 0;
}

// CPUs that this process may use; the mask grows until it is large enough for the machine.
std::optional<std::uint64_t> allowed_cpus() {
  for (std::size_t cpus = 1024; cpus <= 65536; cpus *= 4) {
    std::vector<cpu_set_t> mask(cpus / CPU_SETSIZE);
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0) {
      return static_cast<std::uint64_t>(CPU_COUNT_S(bytes, mask.data()));
    }
  }
  return std::nullopt;
}

std::optional<std::string> cpu_model(ProcReader& files) {
  auto text = files.read("/proc/cpuinfo");
  while (text && !text->empty()) {
    std::string_view line = take_line(*text);
    if (line.starts_with("model name") || line.starts_with("Model")) {
      return std::string(trim(line.substr(std::min(line.find(':') + 1, line.size()))));
    }
  }
  return std::nullopt;
}

}  // namespace

base::Result<void> HostSource::sample_cpu(Batch& batch) {
  auto text = files_.read("/proc/stat");
  const std::int64_t time = monotonic_ns();
  if (!text) {
    return base::fail({.kind = base::ErrorKind::kIo,
                       .message = "cannot read the CPUs' times",
                       .file = files_.root() + "/proc/stat",
                       .advice = "Mount /proc"});
  }
  const auto plain = [&](MetricId metric, std::string_view line) {
    batch.put(metric, kHost, time, number_or(take_number(line), Absence::kFailed));
  };
  while (!text->empty()) {
    std::string_view line = take_line(*text);
    const std::string_view key = take_word(line);
    if (key == "cpu") {
      put_cpu(0, kHost, parse_times(line), time, batch);
    } else if (key.starts_with("cpu")) {
      const auto cpu = to_number(key.substr(3));
      if (!cpu || *cpu > 65536) continue;
      put_cpu(*cpu + 1, {.scope = Scope::kCore, .part = std::string(key.substr(3))},
              parse_times(line), time, batch);
    } else if (key == "ctxt") {
      if (const auto count = take_number(line)) {
        batch.put(MetricId::kHostContextSwitches, kHost, time, switches_.update(*count, time));
      }
    } else if (key == "processes") {
      if (const auto count = take_number(line)) {
        batch.put(MetricId::kHostForks, kHost, time, forks_.update(*count, time));
      }
    } else if (key == "procs_running") {
      plain(MetricId::kHostRunnable, line);
    } else if (key == "procs_blocked") {
      plain(MetricId::kHostBlocked, line);
    }
  }
  return {};
}

void HostSource::put_cpu(std::size_t slot, const Subject& subject, const CpuTimes& now,
                         std::int64_t time, Batch& batch) {
  if (slot >= last_cpu_.size()) {
    last_cpu_.resize(slot + 1);
    cpu_known_.resize(slot + 1);
  }
  const CpuTimes before = std::exchange(last_cpu_[slot], now);
  const bool known = cpu_known_[slot];
  cpu_known_[slot] = true;
  const std::uint64_t user = growth(now.user, before.user);
  const std::uint64_t system = growth(now.system, before.system);
  const std::uint64_t iowait = growth(now.iowait, before.iowait);
  const std::uint64_t steal = growth(now.steal, before.steal);
  const std::uint64_t total = user + system + iowait + steal + growth(now.idle, before.idle);
  const auto share = [&](MetricId metric, std::uint64_t part) {
    batch.put(metric, subject, time,
              known && total > 0
                  ? Value::number(static_cast<double>(part) / static_cast<double>(total))
                  : Value::missing(Absence::kNotYet));
  };
  const bool all = subject.scope == Scope::kHost;
  share(all ? MetricId::kHostCpuBusy : MetricId::kHostCoreBusy, user + system);
  share(all ? MetricId::kHostCpuIowait : MetricId::kHostCoreIowait, iowait);
  share(all ? MetricId::kHostCpuSteal : MetricId::kHostCoreSteal, steal);
  if (all) share(MetricId::kHostCpuSystem, system);
}

void HostSource::sample_load(Batch& batch) {
  auto text = files_.read("/proc/loadavg");
  double load = 0;
  const std::string_view word = text ? take_word(*text) : std::string_view();
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), load);
  const bool good = !word.empty() && problem == std::errc{} && end == word.data() + word.size();
  batch.put(MetricId::kHostLoad1, kHost, monotonic_ns(),
            good ? Value::number(load) : Value::missing(Absence::kFailed));
}

void put_pressure(ProcReader& files, std::string_view path, const PressureMetrics& metrics,
                  const Subject& subject, Batch& batch) {
  auto text = files.read(path);
  const std::int64_t time = monotonic_ns();
  Value some = Value::missing(Absence::kNotSupported, "the kernel keeps no pressure information");
  Value full = some;
  if (!text && files.error() != ENOENT && files.error() != EOPNOTSUPP) {
    some = full = Value::missing(files.gap().absence, files.gap().text);
  }
  while (text && !text->empty()) {
    // "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in microseconds.
    const std::string_view line = take_line(*text);
    const std::size_t at = line.find("total=");
    const auto total = at == std::string_view::npos ? std::nullopt : to_number(line.substr(at + 6));
    if (!total) continue;
    (line.starts_with("some") ? some : full) = Value::number(static_cast<double>(*total) * 1e3);
  }
  batch.put(metrics.some, subject, time, std::move(some));
  if (metrics.has_full) batch.put(metrics.full, subject, time, std::move(full));
}

void HostSource::sample_pressure(Batch& batch) {
  put_pressure(files_, "/proc/pressure/cpu",
               {MetricId::kHostPressureCpuSome, MetricId::kHostPressureCpuSome, false}, kHost,
               batch);
  put_pressure(files_, "/proc/pressure/io",
               {MetricId::kHostPressureIoSome, MetricId::kHostPressureIoFull, true}, kHost, batch);
  put_pressure(files_, "/proc/pressure/memory",
               {MetricId::kHostPressureMemorySome, MetricId::kHostPressureMemoryFull, true}, kHost,
               batch);
}

void HostSource::sample_once(Batch& batch) {
  const std::int64_t time = monotonic_ns();
  const auto text_or_gap = [](std::optional<std::string> text, const Gap& gap) {
    return text ? Value::text(std::move(*text)) : Value::missing(gap.absence, gap.text);
  };
  const auto online = files_.read("/sys/devices/system/cpu/online");
  batch.put(MetricId::kHostCpus, kHost, time,
            number_or(online ? count_list(*online) : std::nullopt, files_.gap().absence));
  batch.put(MetricId::kHostCpusAllowed, kHost, time, number_or(allowed_cpus(), Absence::kFailed));
  batch.put(MetricId::kHostCpuModel, kHost, time,
            text_or_gap(cpu_model(files_), {Absence::kNotSupported, {}}));
  const auto governor = files_.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  batch.put(MetricId::kHostCpuGovernor, kHost, time,
            text_or_gap(governor ? std::optional(std::string(trim(*governor))) : std::nullopt,
                        files_.gap()));
  const auto release = files_.read("/proc/sys/kernel/osrelease");
  batch.put(MetricId::kHostKernel, kHost, time,
            text_or_gap(release ? std::optional(std::string(trim(*release))) : std::nullopt,
                        files_.gap()));
  const auto nodes = files_.read("/sys/devices/system/node/online");
  batch.put(MetricId::kHostNumaNodes, kHost, time,
            number_or(nodes ? count_list(*nodes) : std::nullopt, files_.gap().absence));
}

}  // namespace pyrometer::sources
