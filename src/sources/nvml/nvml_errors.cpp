#include "sources/nvml/nvml_errors.h"

#include <array>

namespace pyrometer::sources::nvml {
namespace {

struct CodeText {
  Return code;
  std::string_view text;
};

constexpr std::array kTexts = {
    CodeText{kUninitialized, "NVML is not started"},
    CodeText{kInvalidArgument, "the driver refuses the question"},
    CodeText{kNotSupported, "not supported"},
    CodeText{kNoPermission, "no permission"},
    CodeText{kNotFound, "not found"},
    CodeText{kInsufficientSize, "the answer was too long"},
    CodeText{kInsufficientPower, "a power cable is not connected"},
    CodeText{kDriverNotLoaded, "the NVIDIA driver is not loaded"},
    CodeText{kTimeout, "the driver took too long"},
    CodeText{kIrqIssue, "the GPU gets no interrupts"},
    CodeText{kLibraryNotFound, "a library of the driver is missing"},
    CodeText{kFunctionNotFound, "needs a newer driver"},
    CodeText{kGpuIsLost, "the GPU has fallen off the bus"},
    CodeText{kResetRequired, "the GPU has to be reset"},
    CodeText{kOperatingSystem, "the operating system refuses access to the GPU"},
    CodeText{kLibRmVersionMismatch, "the loaded driver and its library are of different versions"},
    CodeText{kInUse, "the GPU is in use"},
    CodeText{kMemory, "out of memory"},
    CodeText{kNoData, "no data"},
    CodeText{kArgumentVersionMismatch, "needs another driver version"},
    CodeText{kDeprecated, "this driver has it no more"},
    CodeText{kNotReady, "not ready"},
    CodeText{kGpuNotFound, "there is no GPU"},
};

}  // namespace

std::string_view return_text(Return code) {
  for (const CodeText& known : kTexts) {
    if (known.code == code) return known.text;
  }
  return "an unknown error of the driver";
}

Gap gap_of(Return code) {
  switch (code) {
    case kNotSupported:
    case kInvalidArgument:  // what some drivers say where they do not know a metric
      return {Absence::kNotSupported, {}};
    case kFunctionNotFound:
    case kArgumentVersionMismatch:
    case kDeprecated:
      return {Absence::kNotSupported, return_text(code)};
    case kNoPermission:
      return {Absence::kNoPermission, {}};
    case kGpuIsLost:
      return {Absence::kDeviceLost, {}};
    case kResetRequired:
      return {Absence::kDeviceLost, return_text(code)};
    case kNotFound:
    case kNoData:
    case kNotReady:
    case kTimeout:
    case kInUse:
      return {Absence::kNotAvailable, return_text(code)};
    default:
      return {Absence::kFailed, return_text(code)};
  }
}

bool is_device_gone(Return code) { return code == kGpuIsLost || code == kResetRequired; }

bool is_driver_gone(Return code) {
  return code == kUninitialized || code == kDriverNotLoaded || code == kLibRmVersionMismatch;
}

base::Error driver_error(std::string_view what, Return code) {
  base::Error error{.kind = base::ErrorKind::kIo,
                    .message = std::string(what) + ": " + std::string(return_text(code))};
  switch (code) {
    case kLibRmVersionMismatch:
      error.kind = base::ErrorKind::kUnsupported;
      error.advice =
          "The driver was updated and the old one still runs: reboot, or stop all GPU programs and "
          "reload it (modprobe -r nvidia_uvm nvidia_drm nvidia_modeset nvidia; modprobe nvidia). "
          "In a container, start it anew";
      break;
    case kDriverNotLoaded:
      error.kind = base::ErrorKind::kNotFound;
      error.advice = "Load the driver (modprobe nvidia), or install it for this kernel";
      break;
    case kNoPermission:
    case kOperatingSystem:
      error.kind = base::ErrorKind::kPermission;
      error.advice =
          "Check who may open /dev/nvidia* (groups video, render), or the container's device rules";
      break;
    case kGpuNotFound:
      error.kind = base::ErrorKind::kNotFound;
      break;
    case kGpuIsLost:
      error.advice = "See dmesg for Xid 79; a reset of the machine brings the GPU back";
      break;
    default:
      break;
  }
  return error;
}

}  // namespace pyrometer::sources::nvml
