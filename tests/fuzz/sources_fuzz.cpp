// What sources read that others wrote: kernel tables, the kubelet's answers, scripts. The first
// byte chooses which.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sources/amd/drm_processes.h"
#include "sources/amd/gpu_metrics.h"
#include "sources/amd/sysfs.h"
#include "sources/kube/pods.h"
#include "sources/procfs/process_owner.h"
#include "sources/replay/fleet.h"
#include "sources/replay/recorded_source.h"

namespace sources = pyrometer::sources;

namespace {

// A sound script can be played, at any time.
void play(std::string_view text) {
  auto script = sources::replay::parse_script(text, "fuzz");
  if (!script) return;
  const sources::replay::Fleet fleet(std::move(*script));
  for (int gpu = 0; gpu < static_cast<int>(fleet.script().gpus.size()); ++gpu) {
    for (const double time : {0.0, 1e5}) {
      int number = 0;
      static_cast<void>(fleet.watts(gpu, time));
      static_cast<void>(fleet.mig(gpu, time, number));
      static_cast<void>(fleet.last_xid(gpu, time, number));
      for (const auto& process : fleet.processes(gpu, time)) {
        if (!fleet.owner(process.pid, true)) __builtin_trap();
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  std::string id;
  switch (data[0] % 6) {
    case 0:
      static_cast<void>(sources::amd::parse_gpu_metrics(text));
      break;
    case 1:
      static_cast<void>(sources::amd::parse_fdinfo(text));
      break;
    case 2:
      static_cast<void>(sources::amd::parse_clock_levels(text));
      static_cast<void>(sources::amd::parse_error_counts(text));
      static_cast<void>(sources::amd::pcie_generation_of(text));
      break;
    case 3:
      static_cast<void>(sources::kube::parse_pod_resources(text));
      break;
    case 4:
      static_cast<void>(sources::kube::parse_log_name(text, id));
      static_cast<void>(sources::container_in(text));
      static_cast<void>(sources::pod_uid_in(text));
      static_cast<void>(sources::slurm_job_in(text));
      static_cast<void>(sources::replay::recorded_subject(text));
      break;
    default: {
      // toml++ 3.3 takes some letters beyond ASCII for what cannot be, where no text belongs.
      std::string ascii(text);
      for (char& c : ascii) c = static_cast<unsigned char>(c) < 0x80 ? c : '?';
      play(ascii);
    }
  }
  return 0;
}
