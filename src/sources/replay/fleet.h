// What the GPUs of a script do at a time. Everything follows from the script and the time alone:
// the same second of the same script is always the same, in whatever steps it is looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sources/procfs/process_owner.h"
#include "sources/replay/script.h"

namespace pyrometer::sources::replay {

struct FleetProcess {
  std::int32_t pid = -1;
  const ScriptProcess* script = nullptr;  // null: one of a fault's crowd
  int slot = 0;                           // among those alike
};

// Times are in seconds since the fleet began.
class Fleet {
 public:
  explicit Fleet(Script script);
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  [[nodiscard]] const Script& script() const { return script_; }

  // 0 to 1, and its integral from 0 on, in seconds.
  [[nodiscard]] double load(int gpu, double time) const;
  [[nodiscard]] double load_integral(int gpu, double time) const;
  [[nodiscard]] double watts(int gpu, double time) const;   // without noise
  [[nodiscard]] double joules(int gpu, double time) const;  // its integral
  // -1 to 1, another for each second, GPU and `salt`; its mean is 0.
  [[nodiscard]] double noise(int gpu, unsigned salt, double time) const;

  [[nodiscard]] bool is_reloading(double time) const;
  [[nodiscard]] bool is_lost(int gpu, double time) const;
  // Instances now, empty: MIG is off; and a number that differs between different sets of them.
  [[nodiscard]] const std::vector<std::string>& mig(int gpu, double time, int& set) const;
  // Whether a storm of missing readings takes this one.
  [[nodiscard]] bool is_missing(int gpu, unsigned salt, double time) const;
  // The Xid that is being reported, and how often one has begun; 0: none so far.
  [[nodiscard]] int last_xid(int gpu, double time, int& count) const;
  [[nodiscard]] std::vector<FleetProcess> processes(int gpu, double time) const;

  // Whose a process of this fleet is; nothing for other numbers.
  [[nodiscard]] std::optional<ProcessOwner> owner(std::int32_t pid, bool with_arguments) const;
  [[nodiscard]] std::string uuid(int gpu, int mig_set, int instance) const;  // instance -1: the GPU

 private:
  // Process ids: a range for each entry of the script on each GPU.
  struct Range {
    std::int32_t first = 0;
    int count = 0;
    int gpu = 0;
    const ScriptProcess* script = nullptr;
  };
  [[nodiscard]] const Fault* active(FaultKind kind, int gpu, double time) const;

  Script script_;
  std::vector<Range> ranges_;
  std::vector<double> phase_;  // by GPU, so that they do not move in step
};

// Whose the processes of a script are.
[[nodiscard]] OwnerLookup made_up_owners(const Script& script);

}  // namespace pyrometer::sources::replay
