#include "sources/gpu_presence.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "sources/nvml/nvml_abi.h"
#include "sources/pci.h"
#include "sources/procfs/proc_reader.h"

namespace pyrometer::sources {
namespace {

// Where the libraries of the driver are put: distributions, NVIDIA's container tools, WSL, NixOS.
constexpr std::string_view kLibraryFolders[] = {"/usr/lib/x86_64-linux-gnu",
                                                "/usr/lib/aarch64-linux-gnu",
                                                "/usr/lib64",
                                                "/usr/lib",
                                                "/lib/x86_64-linux-gnu",
                                                "/lib64",
                                                "/usr/local/nvidia/lib64",
                                                "/usr/lib/wsl/lib",
                                                "/run/opengl-driver/lib",
                                                "/usr/lib/aarch64-linux-gnu/nvidia",
                                                "/usr/local/lib",
                                                "/usr/lib/nvidia"};

int open_error(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return errno;
  close(file);
  return 0;
}

// What the diagnosis goes by.
class Machine {
 public:
  explicit Machine(const PresenceInputs& inputs)
      : inputs(inputs), files(inputs.root), graphics(list_graphics_devices(inputs.root)) {}

  [[nodiscard]] bool exists(std::string_view path) const {
    return access((inputs.root + std::string(path)).c_str(), F_OK) == 0;
  }
  [[nodiscard]] bool is_container() {
    if (exists("/.dockerenv") || exists("/run/.containerenv")) return true;
    const auto groups = files.read("/proc/1/cgroup");
    return groups && (groups->find("docker") != std::string_view::npos ||
                      groups->find("kubepods") != std::string_view::npos ||
                      groups->find("containerd") != std::string_view::npos);
  }
  [[nodiscard]] bool is_wsl() {
    if (exists("/dev/dxg")) return true;
    const auto release = files.read("/proc/sys/kernel/osrelease");
    return release && (release->find("microsoft") != std::string_view::npos ||
                       release->find("Microsoft") != std::string_view::npos);
  }
  [[nodiscard]] bool is_driver_loaded() const {
    return exists("/proc/driver/nvidia/version") || exists("/sys/module/nvidia");
  }
  [[nodiscard]] std::vector<const PciDevice*> of_vendor(unsigned vendor) const {
    std::vector<const PciDevice*> found;
    for (const PciDevice& device : graphics) {
      if (device.vendor == vendor) found.push_back(&device);
    }
    return found;
  }
  [[nodiscard]] bool has_library(std::string_view name) const {
    return std::ranges::any_of(kLibraryFolders, [&](std::string_view folder) {
      return exists(std::string(folder) + "/" + std::string(name));
    });
  }

  const PresenceInputs& inputs;
  ProcReader files;
  std::vector<PciDevice> graphics;
};

using Verdict = std::optional<GpuPresence>;

Verdict by_hardware(Machine& machine);

std::string in_container(Machine& machine, std::string inside, std::string outside) {
  return machine.is_container() ? std::move(inside) : std::move(outside);
}

Verdict by_environment(Machine& machine) {
  const auto& visible = machine.inputs.cuda_visible_devices;
  if (!visible) return std::nullopt;
  const std::string_view first = trim(std::string_view(*visible).substr(0, visible->find(',')));
  // CUDA shows the devices before the first entry that is none.
  if (!first.empty() && first != "-1" && first != "NoDevFiles") return std::nullopt;
  // Where there is none to hide, that is the reason.
  if (!machine.is_wsl()) {
    Verdict none = by_hardware(machine);
    if (none && none->state == PresenceState::kNoDevice) return none;
  }
  return GpuPresence{PresenceState::kHidden,
                     "CUDA_VISIBLE_DEVICES is \"" + *visible + "\", which hides all GPUs",
                     "Unset it, or name the GPUs to use, such as CUDA_VISIBLE_DEVICES=0"};
}

Verdict by_nvml(Machine& machine) {
  const PresenceInputs& inputs = machine.inputs;
  if (inputs.nvml_code == nvml::kLibRmVersionMismatch) {
    return GpuPresence{
        PresenceState::kVersionMismatch,
        "the loaded NVIDIA driver and its library are of different versions",
        "The driver was updated and the old one still runs: reboot, or stop all GPU programs and "
        "reload the modules nvidia_uvm, nvidia_drm, nvidia_modeset and nvidia. Start containers "
        "anew"};
  }
  if (inputs.nvml_code != nvml::kSuccess || !inputs.gpus_shown || *inputs.gpus_shown == 0) {
    return std::nullopt;
  }
  if (inputs.gpus_denied == *inputs.gpus_shown) {
    return GpuPresence{PresenceState::kNoPermission, "access to the GPUs is refused",
                       "Check the device rules of the container or job, and who may open "
                       "/dev/nvidia*"};
  }
  if (inputs.gpus_lost == *inputs.gpus_shown) {
    return GpuPresence{PresenceState::kLost, "all GPUs have fallen off the bus",
                       "See dmesg for Xid 79. Power and cooling are the usual causes; a cold start "
                       "of the machine brings them back"};
  }
  if (inputs.gpus_mig_without_instances == *inputs.gpus_shown) {
    return GpuPresence{PresenceState::kMigWithoutInstances,
                       "MIG mode is on and no instance has been made",
                       "Make one (nvidia-smi mig -cgi 0 -C), or turn MIG mode off "
                       "(nvidia-smi -mig 0)"};
  }
  return GpuPresence{PresenceState::kUsable, "GPUs can be used", ""};
}

Verdict by_wsl(Machine& machine) {
  if (!machine.is_wsl()) return std::nullopt;
  if (!machine.exists("/dev/dxg")) {
    return GpuPresence{PresenceState::kWslWithoutGpu, "WSL gives this system no GPU",
                       "Use WSL 2 (wsl --set-version) and install the NVIDIA driver in Windows"};
  }
  if (!machine.has_library("libnvidia-ml.so.1")) {
    return GpuPresence{PresenceState::kNoNvmlLibrary,
                       "WSL shows a GPU, and /usr/lib/wsl/lib has no libnvidia-ml.so.1",
                       "Install the NVIDIA driver in Windows (none in Linux), then wsl --shutdown"};
  }
  return GpuPresence{PresenceState::kUsable, "the GPU is used through WSL", ""};
}

Verdict by_hardware(Machine& machine) {
  const bool is_tegra = [&] {
    const auto compatible = machine.files.read("/sys/firmware/devicetree/base/compatible");
    return compatible && compatible->find("nvidia,tegra") != std::string_view::npos;
  }();
  const auto nvidia = machine.of_vendor(kVendorNvidia);
  if (!nvidia.empty() || is_tegra || machine.exists("/dev/nvidiactl")) return std::nullopt;
  if (const auto amd = machine.of_vendor(kVendorAmd); !amd.empty()) {
    return GpuPresence{PresenceState::kOtherVendor,
                       "there is an AMD GPU (" + amd.front()->address + ", driver " +
                           (amd.front()->driver.empty() ? "none" : amd.front()->driver) +
                           ") and no NVIDIA one",
                       "Pyrometer reads NVIDIA GPUs"};
  }
  return GpuPresence{PresenceState::kNoDevice, "this machine has no NVIDIA GPU",
                     "In a virtual machine or cloud instance, check that a GPU is attached"};
}

Verdict by_driver(Machine& machine) {
  const auto nvidia = machine.of_vendor(kVendorNvidia);
  const auto all_have = [&](std::string_view driver) {
    return !nvidia.empty() && std::ranges::all_of(nvidia, [&](const PciDevice* device) {
      return device->driver == driver;
    });
  };
  if (all_have("nouveau")) {
    return GpuPresence{PresenceState::kNouveau,
                       "the GPU is driven by nouveau, which cannot run CUDA",
                       "Install NVIDIA's driver; its packages turn nouveau off at the next boot"};
  }
  if (all_have("vfio-pci")) {
    return GpuPresence{PresenceState::kPassedThrough,
                       "the GPU is reserved for virtual machines (vfio-pci)",
                       "Run inside the virtual machine, or give the GPU back to the nvidia driver"};
  }
  if (machine.is_driver_loaded() || nvidia.empty()) return std::nullopt;
  return GpuPresence{
      PresenceState::kNoDriver,
      "there is an NVIDIA GPU (" + nvidia.front()->address + ") and its driver is not loaded",
      "Install the driver, or load it (modprobe nvidia). After a kernel update it has "
      "to be built anew; with Secure Boot its module has to be signed"};
}

Verdict by_files(Machine& machine) {
  if (!machine.is_driver_loaded()) return std::nullopt;
  if (!machine.exists("/dev/nvidiactl") || !machine.exists("/dev/nvidia0")) {
    // A job may hold another GPU than number 0.
    bool any = false;
    for (int number = 1; number < 16 && !any; ++number) {
      any = machine.exists("/dev/nvidia" + std::to_string(number));
    }
    if (!machine.exists("/dev/nvidiactl") || !any) {
      return GpuPresence{
          PresenceState::kNoDeviceFiles, "the driver is loaded and /dev has no NVIDIA device files",
          in_container(machine,
                       "Start the container with GPUs: docker run --gpus all, or a nvidia.com/gpu "
                       "limit in Kubernetes",
                       "Run nvidia-modprobe -u -c 0 as root, or nvidia-smi once")};
    }
  }
  const auto try_open = machine.inputs.try_open ? machine.inputs.try_open : open_error;
  const int error = try_open(machine.inputs.root + "/dev/nvidiactl");
  if (error == EACCES || error == EPERM) {
    return GpuPresence{PresenceState::kNoPermission, "/dev/nvidiactl may not be opened",
                       in_container(machine, "Give the container access to the device files",
                                    "Join the group that owns it (video or render): ls -l "
                                    "/dev/nvidiactl")};
  }
  return std::nullopt;
}

Verdict by_libraries(Machine& machine) {
  const PresenceInputs& inputs = machine.inputs;
  if (!inputs.has_nvml.value_or(machine.has_library("libnvidia-ml.so.1"))) {
    return GpuPresence{PresenceState::kNoNvmlLibrary,
                       "the driver is there and its library libnvidia-ml.so.1 is not",
                       in_container(machine,
                                    "Start the container with NVIDIA_DRIVER_CAPABILITIES="
                                    "compute,utility",
                                    "Install the driver's libraries, of the same version as the "
                                    "driver, or add their folder to LD_LIBRARY_PATH")};
  }
  if (!inputs.has_cuda.value_or(machine.has_library("libcuda.so.1"))) {
    return GpuPresence{PresenceState::kNoCudaLibrary,
                       "the driver is there and its library libcuda.so.1 is not",
                       in_container(machine,
                                    "Start the container with NVIDIA_DRIVER_CAPABILITIES="
                                    "compute,utility",
                                    "Install the driver's CUDA library, of the same version as the "
                                    "driver")};
  }
  return std::nullopt;
}

}  // namespace

GpuPresence diagnose_gpu_presence(const PresenceInputs& inputs) {
  Machine machine(inputs);
  // From what hides everything else to what can only be judged once the rest is sound.
  for (const auto judge :
       {by_environment, by_nvml, by_wsl, by_hardware, by_driver, by_files, by_libraries}) {
    if (Verdict verdict = judge(machine)) return *std::move(verdict);
  }
  if (inputs.nvml_code && *inputs.nvml_code != nvml::kSuccess) {
    return {PresenceState::kUnknown, "the NVIDIA driver does not work",
            "See what nvidia-smi and dmesg say"};
  }
  if (inputs.gpus_shown && *inputs.gpus_shown == 0) {
    return {PresenceState::kUnknown, "the NVIDIA driver shows no GPU", "See what dmesg says"};
  }
  return {PresenceState::kUsable, "an NVIDIA GPU and its driver are here", ""};
}

}  // namespace pyrometer::sources
