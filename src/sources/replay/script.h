// A scripted fleet of GPUs: what a demonstration and long tests play. docs/reference/demo-script.md
// has the format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pyrometer::sources::replay {

enum class Load : std::uint8_t { kIdle, kTraining, kInference, kFull };
enum class Throttle : std::uint8_t { kNone, kPower, kThermal };

// `count` processes alike.
struct ScriptProcess {
  std::string user, program, arguments;
  double memory_gib = 1;
  int count = 1;
  double lives_s = 0;  // then another takes its place; 0: for ever
  int first_rank = -1;
  std::string slurm_job, container;  // empty: none
  std::string pod, pod_namespace;
  bool draws = false;  // graphics instead of compute
};

struct ScriptGpu {
  std::string name;
  double memory_gib = 80, power_limit_w = 400, idle_w = 60, clock_mhz = 1700;
  double memory_clock_mhz = 2600, fan = -1;  // fan: share at full load, below 0: none
  Load load = Load::kIdle;
  Throttle throttle = Throttle::kNone;
  std::vector<std::string> mig;  // profiles such as "1g.18gb"
  int in_group = 0;              // among those that one entry of the script makes
  std::vector<ScriptProcess> processes;
};

enum class FaultKind : std::uint8_t {
  kLost,       // the GPU falls off the bus, and answers again at the end
  kReload,     // the driver is reloaded: the source as a whole fails
  kMig,        // other MIG instances
  kMissing,    // `share` of all readings is missing
  kProcesses,  // `count` more processes, each of which lives half a minute
  kXid,        // the driver reports Xid `count`
};

struct Fault {
  FaultKind kind = FaultKind::kLost;
  int gpu = -1;                             // -1: all
  double at_s = 0, for_s = 1, every_s = 0;  // every_s 0: once
  int count = 0;
  double share = 0.5;
  std::vector<std::string> mig;
};

struct Script {
  std::string host = "demo";
  std::uint64_t seed = 1;
  std::vector<ScriptGpu> gpus;  // 16 at most
  std::vector<Fault> faults;
};

// `file` names the text in errors. Errors: kUsage with the line.
[[nodiscard]] base::Result<Script> parse_script(std::string_view text, const std::string& file);
[[nodiscard]] base::Result<Script> read_script(const std::string& path);
// The script of `--demo`.
[[nodiscard]] std::string_view demo_script();

}  // namespace pyrometer::sources::replay
