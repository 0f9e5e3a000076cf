// Processes that hold GPUs, by what the kernel tells of open files (fdinfo) and of compute work
// (KFD). Any driver of the DRM may be asked for that tells the standard keys.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sources/procfs/proc_reader.h"
#include "sources/rate.h"

namespace pyrometer::sources::amd {

// What one open file says of one client of a GPU.
struct DrmClient {
  std::string driver, address;  // "amdgpu", "0000:03:00.0"
  std::uint64_t id = 0;
  std::optional<std::uint64_t> vram, gtt;                // bytes
  std::optional<std::uint64_t> graphics_ns, compute_ns;  // time on the engines
};
// Nothing where the text is not that of a DRM client.
[[nodiscard]] std::optional<DrmClient> parse_fdinfo(std::string_view text);

struct DrmProcess {
  std::int32_t pid = -1;
  bool computes = false;
  std::optional<std::uint64_t> vram, gtt;
  Value util = Value::missing(Absence::kNotAvailable);  // share of the time since the last look
};

class DrmProcesses {
 public:
  // `root`: prefix of /proc and /sys. `same_namespace`: /proc there shows the host's ids, which are
  // those that KFD tells; elsewhere KFD is left out.
  DrmProcesses(std::string root, bool same_namespace);

  // Looks at all processes. Those of other users cannot be seen without privileges, unless they
  // compute (KFD tells of all).
  void look(std::int64_t now_ns);
  // On the GPU at this address, by process id.
  [[nodiscard]] const std::vector<DrmProcess>& on(const std::string& address) const;
  // Processes whose files could not be looked at.
  [[nodiscard]] int hidden() const { return hidden_; }

 private:
  using Key = std::pair<std::string, std::int32_t>;  // address, process

  void look_at(std::int32_t pid, std::map<Key, DrmProcess>& all, std::int64_t now_ns);
  void look_at_kfd(std::map<Key, DrmProcess>& all);
  [[nodiscard]] std::map<std::uint64_t, std::string> kfd_addresses();

  ProcReader files_;
  bool same_namespace_;
  std::map<Key, Rate> busy_;  // of processes that were there last time
  std::map<std::string, std::vector<DrmProcess>> processes_;
  int hidden_ = 0;
};

}  // namespace pyrometer::sources::amd
