// Why no GPU can be used here, if that is so.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace pyrometer::sources {

enum class PresenceState : std::uint8_t {
  kUsable,
  kNoDevice,         // no GPU of any known vendor
  kOtherVendor,      // an AMD GPU and no NVIDIA one
  kHidden,           // CUDA_VISIBLE_DEVICES hides all
  kNoDriver,         // an NVIDIA GPU without NVIDIA's driver
  kNouveau,          // the open driver nouveau has it
  kPassedThrough,    // handed on to a virtual machine (vfio)
  kNoDeviceFiles,    // driver loaded, no /dev/nvidia*: a container without GPUs
  kNoPermission,     // device files cannot be opened
  kNoNvmlLibrary,    // libnvidia-ml.so.1 is missing
  kNoCudaLibrary,    // libcuda.so.1 is missing
  kVersionMismatch,  // loaded driver and library differ
  kWslWithoutGpu,    // WSL without GPU support
  kMigWithoutInstances,
  kLost,     // all GPUs have fallen off the bus
  kUnknown,  // none of the above explains it
};

struct PresenceInputs {
  std::string root;                                 // prefix of /proc, /sys, /dev and /usr
  std::optional<std::string> cuda_visible_devices;  // as the program sees it; nothing: not set
  // What is known from trying; nothing: look for it.
  std::optional<bool> has_nvml;        // libnvidia-ml.so.1 can be opened
  std::optional<bool> has_cuda;        // libcuda.so.1 can be opened
  std::optional<int> nvml_code;        // what NVML said
  std::optional<unsigned> gpus_shown;  // by NVML, of which
  unsigned gpus_denied = 0;
  unsigned gpus_lost = 0;
  unsigned gpus_mig_without_instances = 0;
  // errno of opening a device file for reading and writing, 0 where it works. Tests replace it.
  std::function<int(const std::string&)> try_open;
};

struct GpuPresence {
  PresenceState state = PresenceState::kUnknown;
  std::string text;    // what is the matter, in one clause
  std::string advice;  // what to do, in sentences without the last period; may be empty
};

// Reads files only: wakes no GPU and loads no library.
[[nodiscard]] GpuPresence diagnose_gpu_presence(const PresenceInputs& inputs);

}  // namespace pyrometer::sources
