#include "sources/nvml/processes.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "sources/nvml/nvml_errors.h"
#include "sources/procfs/proc_reader.h"

namespace pyrometer::sources::nvml {
namespace {

// Each GPU of a machine with a process for every one of its users, and more.
constexpr std::size_t kMostProcesses = 65'536;
constexpr std::uint32_t kLargestPid = 1 << 22;  // of Linux
constexpr unsigned char kUntouched = 0xA5;

using ListFunction = Return (*)(Handle, std::uint32_t*, void*);

struct RawList {
  Return code = kFunctionNotFound;
  std::vector<ProcessInfoV1> entries;  // what all versions have in common
};

// Asks with a buffer that is filled with a pattern, and tells the size of an entry by how far the
// driver wrote. It has room for the longest entries, whatever the driver believes.
RawList ask_list(ListFunction function, Handle handle, bool is_v1) {
  RawList list;
  std::vector<unsigned char> buffer;
  std::uint32_t count = 0;
  for (std::size_t room = 64; room <= kMostProcesses; room *= 4) {
    buffer.assign(room * sizeof(ProcessDetail), kUntouched);
    count = static_cast<std::uint32_t>(room);
    list.code = function(handle, &count, buffer.data());
    if (list.code != kInsufficientSize) break;
  }
  if (list.code != kSuccess || count == 0) return list;
  const auto end = std::find_if(buffer.rbegin(), buffer.rend(),
                                [](unsigned char byte) { return byte != kUntouched; });
  const auto written = static_cast<std::size_t>(buffer.rend() - end);
  const std::size_t size = is_v1 ? sizeof(ProcessInfoV1) : entry_size(written, count);
  if (size == 0 || count * size > buffer.size()) {
    list.code = kUnknown;
    return list;
  }
  for (std::size_t i = 0; i < count; ++i) {
    ProcessInfoV1 entry{};
    std::memcpy(&entry, buffer.data() + i * size, sizeof entry);
    // A process id that cannot be one: the entries are laid out in yet another way.
    if (entry.pid == 0 || entry.pid > kLargestPid) {
      list.code = kUnknown;
      list.entries.clear();
      return list;
    }
    list.entries.push_back(entry);
  }
  return list;
}

RawList ask_newest(Handle handle, ListFunction v3, ListFunction v2, ListFunction v1) {
  RawList list;
  for (const ListFunction function : {v3, v2}) {
    if (function == nullptr) continue;
    list = ask_list(function, handle, false);
    if (list.code != kFunctionNotFound) return list;
  }
  return v1 == nullptr ? list : ask_list(v1, handle, true);
}

void merge(const RawList& list, bool computes, std::map<std::int32_t, GpuProcess>& all) {
  for (const ProcessInfoV1& entry : list.entries) {
    const auto pid = static_cast<std::int32_t>(entry.pid);
    GpuProcess& process = all[pid];
    process.pid = pid;
    process.computes = process.computes || computes;
    if (entry.used_memory == kNoValue64) continue;
    // Both lists count all of the process's memory.
    process.bytes = std::max(process.bytes.value_or(0), entry.used_memory);
  }
}

// Mean SM utilisation of each process over the driver's samples since the last call, percent.
std::map<std::int32_t, double> ask_utilization(DeviceReader& reader, Return& code) {
  Device& device = reader.device();
  std::uint32_t count = 0;
  std::map<std::int32_t, double> mean;
  code = call(reader.api().process_utilization, device.handle,
              static_cast<ProcessUtilization*>(nullptr), &count, device.process_samples_us);
  if (code != kInsufficientSize || count == 0) {
    if (code == kSuccess) code = kNotFound;
    return mean;
  }
  count = std::min<std::uint32_t>(count, kMostProcesses);
  std::vector<ProcessUtilization> samples(count);
  code = call(reader.api().process_utilization, device.handle, samples.data(), &count,
              device.process_samples_us);
  if (code != kSuccess) return mean;
  samples.resize(std::min<std::size_t>(count, samples.size()));
  std::map<std::int32_t, int> seen;
  const std::uint64_t since = device.process_samples_us;
  for (const ProcessUtilization& sample : samples) {
    // Some drivers leave entries of garbage between the good ones.
    if (sample.pid == 0 || sample.pid > kLargestPid || sample.sm > 100) continue;
    if (sample.time_us <= since) continue;
    device.process_samples_us = std::max(device.process_samples_us, sample.time_us);
    mean[static_cast<std::int32_t>(sample.pid)] += sample.sm;
    ++seen[static_cast<std::int32_t>(sample.pid)];
  }
  for (auto& [pid, sum] : mean) sum /= seen[pid];
  return mean;
}

Value name_of(std::int32_t pid, const std::string& root, bool same_namespace) {
  if (!same_namespace) {
    return Value::missing(Absence::kOtherNamespace, "the id is that of the host");
  }
  ProcReader files(root);
  const auto name = files.read("/proc/" + std::to_string(pid) + "/comm");
  return name ? Value::text(std::string(trim(*name)))
              : Value::missing(files.gap().absence, "no such process is visible");
}

Value share_of(const GpuProcess& process, Return code,
               const std::map<std::int32_t, double>& utilization) {
  const auto found = utilization.find(process.pid);
  if (found != utilization.end()) return Value::number(found->second / 100);
  if (code != kSuccess && code != kNotFound) {
    return Value::missing(gap_of(code).absence, gap_of(code).text);
  }
  return Value::missing(Absence::kNotAvailable, "the driver took no sample of it");
}

}  // namespace

std::size_t entry_size(std::size_t written, std::size_t count) {
  if (count == 0 || written == 0) return 0;
  // Each entry ends with a member that is always written, so the last one's end is the extent.
  for (const std::size_t size : {sizeof(ProcessInfoV2), sizeof(ProcessDetail)}) {
    if (written <= size * count) return written > size * (count - 1) ? size : 0;
  }
  return 0;
}

ProcessList list_processes(const Api& api, Handle handle) {
  const RawList compute = ask_newest(handle, api.compute_v3, api.compute_v2, api.compute_v1);
  const RawList graphics = ask_newest(handle, api.graphics_v3, api.graphics_v2, api.graphics_v1);
  std::map<std::int32_t, GpuProcess> all;
  merge(compute, true, all);
  merge(graphics, false, all);
  ProcessList list;
  // Boards for computing only do not know the other list.
  if (compute.code != kSuccess) list.code = compute.code;
  for (const auto& [pid, process] : all) list.processes.push_back(process);
  return list;
}

void read_processes(DeviceReader& reader, const std::string& root, bool same_namespace,
                    bool with_util) {
  if (reader.device().is_lost || reader.device().is_asleep) return;
  if (!reader.may_ask(MetricId::kGpuProcesses)) return;
  const ProcessList list = list_processes(reader.api(), reader.device().handle);
  const bool counted = list.code == kSuccess;
  reader.finish(MetricId::kGpuProcesses, list.code,
                counted ? std::optional(static_cast<double>(list.processes.size())) : std::nullopt);
  if (list.processes.empty()) return;
  Return code = kNotSupported;
  std::map<std::int32_t, double> utilization;
  if (!reader.device().is_mig && with_util) utilization = ask_utilization(reader, code);
  reader.note(code);
  for (const GpuProcess& process : list.processes) {
    const Subject subject{.scope = Scope::kDeviceProcess,
                          .device = reader.device().subject.device,
                          .pid = process.pid};
    const auto put = [&](MetricId metric, Value value) {
      reader.batch().put(metric, subject, monotonic_ns(), std::move(value));
    };
    const bool plausible = process.bytes.value_or(0) < std::uint64_t{1} << 50;
    put(MetricId::kGpuProcessMemory,
        process.bytes && plausible
            ? Value::number(static_cast<double>(*process.bytes))
            : Value::missing(plausible ? Absence::kNotAvailable : Absence::kImplausible));
    put(MetricId::kGpuProcessCompute, Value::number(process.computes ? 1 : 0));
    if (with_util) put(MetricId::kGpuProcessUtil, share_of(process, code, utilization));
    put(MetricId::kGpuProcessName, name_of(process.pid, root, same_namespace));
  }
}

bool in_host_pid_namespace(const std::string& root) {
  // The kernel gives the first PID namespace this fixed number (PROC_PID_INIT_INO).
  std::array<char, 64> link{};
  const std::string path = root + "/proc/self/ns/pid";
  const ssize_t size = readlink(path.c_str(), link.data(), link.size() - 1);
  return size > 0 && std::string_view(link.data()) == "pid:[4026531836]";
}

}  // namespace pyrometer::sources::nvml
