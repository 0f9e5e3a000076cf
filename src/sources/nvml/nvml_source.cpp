#include "sources/nvml/nvml_source.h"

#include <algorithm>
#include <utility>

#include "sources/gpu_presence.h"
#include "sources/nvml/nvml_errors.h"
#include "sources/nvml/processes.h"
#include "sources/nvml/readings.h"
#include "sources/pci.h"

namespace pyrometer::sources::nvml {
namespace {

constexpr std::array kGroups = {Group{"fast", kFast}, Group{"slow", kSlow}, Group{"once", kOnce}};
enum : std::size_t { kFastGroup, kSlowGroup, kOnceGroup };
constexpr std::int64_t kFirstReopen = 60'000'000'000;
constexpr std::int64_t kLastReopen = 600'000'000'000;
// Devices whose PCIe traffic is measured by the blocking call in one slow round.
constexpr std::uint32_t kBlockingPerRound = 2;
constexpr std::uint32_t kUnknownInstances = 0xFFFFFFFF;

}  // namespace

struct NvmlSource::Session {
  explicit Session(Library opened) : library(std::move(opened)), xid(library.api) {}
  Library library;
  XidWatch xid;
};

NvmlSource::NvmlSource(NvmlOptions options)
    : options_(std::move(options)), same_namespace_(in_host_pid_namespace(options_.root)) {}

NvmlSource::~NvmlSource() { stop(); }

std::span<const Group> NvmlSource::groups() const { return kGroups; }

base::Result<void> NvmlSource::start() {
  is_released_ = false;
  busy_ns_ = monotonic_ns();
  // Starting NVML would wake GPUs that sleep.
  const auto is_awake = [this](const PciDevice& pci) {
    return pci.vendor == kVendorNvidia &&
           sleep_state(options_.root, pci.address) != SleepState::kAsleep;
  };
  if (std::ranges::any_of(list_graphics_devices(options_.root, "nvidia"), is_awake)) return open();
  std::vector<Device> sleepers;
  bool awake = false;
  for (const PciDevice& pci : list_graphics_devices(options_.root)) {
    if (pci.vendor != kVendorNvidia) continue;
    if (is_awake(pci)) awake = true;
    Device device;
    device.pci_id = pci.address;
    device.may_sleep = device.is_asleep = true;
    device.index = static_cast<std::uint32_t>(sleepers.size());
    if (is_wanted(options_.devices, device)) sleepers.push_back(std::move(device));
  }
  if (awake || sleepers.empty()) return open();
  for (Device& device : sleepers) device.subject.device = numbers_.number_of(device);
  devices_ = std::move(sleepers);
  is_released_ = was_asleep_ = true;
  released_ns_ = monotonic_ns();
  return {};
}

base::Result<void> NvmlSource::open() {
  auto library = options_.open();
  if (!library) {
    // A library that is there and is not NVML speaks for itself, where the rest is sound.
    const bool is_missing = library.error().kind == base::ErrorKind::kNotFound;
    return base::fail(explain(library.error(), is_missing ? kLibraryNotFound : kSuccess, nullptr));
  }
  auto session = std::make_unique<Session>(std::move(*library));
  const Api& api = session->library.api;
  if (const Return code = call(api.init); code != kSuccess) {
    return base::fail(explain(driver_error("starting NVML", code), code, nullptr));
  }
  session_ = std::move(session);
  DeviceList list = list_devices(api, options_.devices, options_.root);
  if (list.code != kSuccess || list.devices.empty()) {
    base::Error error = driver_error("listing GPUs", list.code);
    if (list.code == kSuccess) {
      error = {.kind = base::ErrorKind::kNotFound,
               .message = list.shown == 0 ? "the NVIDIA driver works and shows no GPU"
                          : list.denied == list.shown
                              ? "the NVIDIA driver shows GPUs and refuses access to them"
                              : "none of the GPUs is among those asked for"};
    }
    error = explain(std::move(error), list.code, &list);
    stop();
    return base::fail(std::move(error));
  }
  adopt(std::move(list));
  return {};
}

base::Error NvmlSource::explain(base::Error error, Return code, const DeviceList* list) const {
  PresenceInputs inputs{.root = options_.root};
  inputs.nvml_code = code;
  if (code == kLibraryNotFound) inputs.has_nvml = false;
  if (list != nullptr && list->code == kSuccess) {
    inputs.gpus_shown = list->shown;
    inputs.gpus_denied = list->denied;
  }
  const GpuPresence presence = diagnose_gpu_presence(inputs);
  if (presence.state == PresenceState::kUsable || presence.state == PresenceState::kUnknown) {
    return error;
  }
  error.message = presence.text;
  error.advice = presence.advice;
  return error;
}

// Takes over a new list of devices. What was known of a device lives on; one that is missing from
// the list counts as lost.
void NvmlSource::adopt(DeviceList list) {
  std::vector<Device> before = std::exchange(devices_, std::move(list.devices));
  to_identify_.clear();
  for (Device& device : devices_) {
    device.subject.device = numbers_.number_of(device);
    const auto old = std::ranges::find(before, device.subject.device,
                                       [](const Device& d) { return d.subject.device; });
    if (old != before.end()) {
      device.energy.joules = old->energy.joules;
      device.last_xid = old->last_xid;
      before.erase(old);
    }
    if (!device.is_lost && !device.is_asleep && !options_.brief) session_->xid.watch(device);
    to_identify_.push_back(device.subject.device);
  }
  for (Device& missing : before) {
    if (missing.is_mig) continue;  // an instance that was destroyed is not lost
    missing.is_lost = true;
    missing.handle = nullptr;
    missing.gpm = {};
    devices_.push_back(std::move(missing));
  }
  if (reopen_at_ns_ == 0 && std::ranges::any_of(devices_, &Device::is_lost)) plan_reopen();
}

void NvmlSource::plan_reopen() {
  reopen_wait_ns_ = kFirstReopen;
  reopen_at_ns_ = monotonic_ns() + reopen_wait_ns_;
}

base::Result<void> NvmlSource::sample(std::size_t group, Batch& batch) {
  if (is_released_) {
    // The rest of what a GPU is cannot be asked for while it sleeps.
    for (const Device& device : devices_) {
      if (group != kOnceGroup) break;
      const std::int64_t now = monotonic_ns();
      batch.put(MetricId::kGpuIndex, device.subject, now, Value::number(device.index));
      batch.put(MetricId::kGpuPciId, device.subject, now, Value::text(device.pci_id));
      batch.put(MetricId::kGpuVendor, device.subject, now, Value::text("NVIDIA"));
    }
    return wait_for_wakeup(batch);
  }
  if (session_ == nullptr) return open();
  if (group == kSlowGroup) {
    ++rounds_;
    look_for_lost(batch);
    if (auto reopened = reopen_if_due(); !reopened) return reopened;
    static_cast<void>(rescan_if_mig_changed());
  }
  announce(batch);
  if (group == kFastGroup) {
    if (const Return code = session_->xid.collect(devices_, batch); code != kSuccess) {
      return base::fail(explain(driver_error("reading Xid errors", code), code, nullptr));
    }
  }
  if (auto read = read_all(group, batch); !read) return read;
  if (group == kSlowGroup) release_if_idle();
  return {};
}

base::Result<void> NvmlSource::read_all(std::size_t group, Batch& batch) {
  const Api& api = session_->library.api;
  std::uint32_t at = 0;
  for (Device& device : devices_) {
    look_for_sleep(device);
    DeviceReader reader(api, device, batch);
    const auto due = std::ranges::find(to_identify_, device.subject.device);
    if (due != to_identify_.end()) {
      to_identify_.erase(due);
      read_once(reader, options_.brief);
    } else if (group == kOnceGroup && options_.identify_always) {
      read_once(reader, options_.brief);
    }
    if (group == kFastGroup) read_fast(reader, options_.brief);
    if (group == kSlowGroup) {
      const auto turns = static_cast<std::uint32_t>(devices_.size() - 1) / kBlockingPerRound + 1;
      const bool turn = at / kBlockingPerRound == rounds_ % turns;
      if (options_.brief) {
        read_limits(reader);
      } else {
        read_slow(reader, options_.may_block && turn);
      }
      read_processes(reader, options_.root, same_namespace_, !options_.brief);
    }
    ++at;
    settle(reader);
    if (const Return code = reader.driver_problem(); code != kSuccess) {
      return base::fail(explain(driver_error("reading GPUs", code), code, nullptr));
    }
  }
  return {};
}

void NvmlSource::look_for_sleep(Device& device) {
  if (!device.may_sleep || device.is_lost) return;
  const bool slept = device.is_asleep;
  device.is_asleep = sleep_state(options_.root, device.pci_id) == SleepState::kAsleep;
  if (slept && !device.is_asleep) to_identify_.push_back(device.subject.device);
}

// Draws the conclusions from one device's answers.
void NvmlSource::settle(DeviceReader& reader) {
  Device& device = reader.device();
  for (const Reading& reading : reader.batch().readings) {
    if (!device.may_sleep) break;  // nobody asks whether it is busy
    if (reading.subject.device != device.subject.device) continue;
    const double* number = reading.value.number();
    const bool tells =
        reading.metric == MetricId::kGpuUtil || reading.metric == MetricId::kGpuProcesses;
    if (tells && number != nullptr && *number > 0) busy_ns_ = monotonic_ns();
  }
  if (reader.device_problem() == kSuccess || device.is_lost) return;
  device.is_lost = true;
  free_gpm(reader.api(), device);
  const std::string where = device.pci_id.empty() ? std::string() : " (" + device.pci_id + ")";
  reader.batch().tell(
      EventKind::kDeviceLost, device.subject, monotonic_ns(),
      std::string(return_text(reader.device_problem())) + where + ". See dmesg for its Xid error");
  reader.put(MetricId::kGpuLost, Value::number(1));
  plan_reopen();
}

void NvmlSource::look_for_lost(Batch& batch) {
  for (Device& device : devices_) {
    if (!device.is_lost || device.is_mig || !find_again(session_->library.api, device)) continue;
    device.is_lost = false;
    if (device.has_mig_enabled) device.mig_instances = kUnknownInstances;  // found anew below
    device.ask_again_ns = {};
    session_->xid.watch(device);
    to_identify_.push_back(device.subject.device);
    batch.tell(EventKind::kDeviceBack, device.subject, monotonic_ns(),
               "the GPU answers again (" + device.pci_id + ")");
  }
}

// A GPU that was reset is often seen by a fresh NVML only.
base::Result<void> NvmlSource::reopen_if_due() {
  const bool lost = std::ranges::any_of(devices_, &Device::is_lost);
  if (!lost || reopen_at_ns_ == 0 || monotonic_ns() < reopen_at_ns_) return {};
  reopen_wait_ns_ = std::min(reopen_wait_ns_ * 2, kLastReopen);
  reopen_at_ns_ = monotonic_ns() + reopen_wait_ns_;
  stop();
  return open();
}

bool NvmlSource::rescan_if_mig_changed() {
  const Api& api = session_->library.api;
  if (std::ranges::all_of(devices_,
                          [&](const Device& device) { return is_mig_unchanged(api, device); })) {
    return false;
  }
  for (Device& device : devices_) free_gpm(api, device);
  session_->xid.close();
  DeviceList list = list_devices(api, options_.devices, options_.root);
  if (list.code != kSuccess || list.devices.empty()) return false;
  adopt(std::move(list));
  return true;
}

void NvmlSource::announce(Batch& batch) {
  for (const Device& device : devices_) {
    const std::int32_t number = device.subject.device;
    if (std::ranges::find(announced_, number) != announced_.end()) continue;
    announced_.push_back(number);
    batch.tell(device.is_lost ? EventKind::kDeviceLost : EventKind::kDeviceFound, device.subject,
               monotonic_ns(), device.uuid.empty() ? "the GPU does not answer" : device.uuid);
  }
}

void NvmlSource::release_if_idle() {
  const bool all_may_sleep = std::ranges::all_of(devices_, &Device::may_sleep);
  if (!all_may_sleep || monotonic_ns() - busy_ns_ < options_.release_after_ns) return;
  stop();
  is_released_ = true;
  was_asleep_ = false;
  released_ns_ = monotonic_ns();
}

base::Result<void> NvmlSource::wait_for_wakeup(Batch& batch) {
  announce(batch);
  bool all_asleep = true;
  for (Device& device : devices_) {
    device.is_asleep = sleep_state(options_.root, device.pci_id) == SleepState::kAsleep;
    all_asleep = all_asleep && device.is_asleep;
    batch.put(MetricId::kGpuAsleep, device.subject, monotonic_ns(),
              Value::number(device.is_asleep ? 1 : 0));
  }
  was_asleep_ = was_asleep_ || all_asleep;
  // One that never went to sleep is kept awake by somebody else's work.
  const bool in_use = monotonic_ns() - released_ns_ >= options_.release_after_ns;
  if (all_asleep || (!was_asleep_ && !in_use)) return {};
  is_released_ = false;
  busy_ns_ = monotonic_ns();
  return open();
}

void NvmlSource::stop() noexcept {
  if (session_ == nullptr) return;
  const Api& api = session_->library.api;
  session_->xid.close();
  for (Device& device : devices_) {
    free_gpm(api, device);
    device.handle = nullptr;
  }
  static_cast<void>(call(api.shutdown));
  session_.reset();
}

}  // namespace pyrometer::sources::nvml
