// Processes that hold a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sources/nvml/nvml_device.h"

namespace pyrometer::sources::nvml {

struct GpuProcess {
  std::int32_t pid = -1;
  bool computes = false;               // false: only draws
  std::optional<std::uint64_t> bytes;  // nothing where the driver does not tell
};

// Size of an entry in what an NVML call wrote: `written` bytes for `count` processes. Drivers of
// the R535 series return longer entries than the function's name promises. 0: neither fits.
[[nodiscard]] std::size_t entry_size(std::size_t written, std::size_t count);

// Compute and graphics processes, each once.
struct ProcessList {
  Return code = kSuccess;  // else the list is empty
  std::vector<GpuProcess> processes;
};
[[nodiscard]] ProcessList list_processes(const Api& api, Handle handle);

// Readings of every process on the device. Process ids are the host's: `same_namespace` says
// whether they mean something here (names are then looked up below `root`/proc).
// `with_util`: also their share of the time, which costs milliseconds.
void read_processes(DeviceReader& reader, const std::string& root, bool same_namespace,
                    bool with_util);

// Whether /proc shows the host's process ids.
[[nodiscard]] bool in_host_pid_namespace(const std::string& root);

}  // namespace pyrometer::sources::nvml
