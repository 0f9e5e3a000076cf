#include "sources/nvml/device_list.h"

#include <algorithm>
#include <array>

#include "sources/device_choice.h"
#include "sources/nvml/nvml_errors.h"
#include "sources/pci.h"

namespace pyrometer::sources::nvml {
namespace {

constexpr std::uint32_t kMostDevices = 1024;
constexpr std::uint32_t kMostInstances = 64;

std::string ask_uuid(const Api& api, Handle handle) {
  std::array<char, 128> text{};
  const Return code =
      call(api.uuid, handle, text.data(), static_cast<std::uint32_t>(text.size() - 1));
  return code == kSuccess ? std::string(text.data()) : std::string();
}

std::string ask_pci(const Api& api, Handle handle) {
  PciInfo info{};
  if (call(api.pci_info, handle, &info) != kSuccess) return {};
  info.bus_id[sizeof info.bus_id - 1] = '\0';
  return kernel_pci_address(info.bus_id);
}

struct MigState {
  bool enabled = false;
  std::vector<Handle> instances;
};

MigState ask_mig(const Api& api, Handle handle) {
  MigState state;
  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  if (call(api.mig_mode, handle, &current, &pending) != kSuccess || current != kEnabled) {
    return state;
  }
  state.enabled = true;
  std::uint32_t most = 0;
  if (call(api.mig_most, handle, &most) != kSuccess) return state;
  for (std::uint32_t i = 0; i < std::min(most, kMostInstances); ++i) {
    // Numbers have holes where instances were destroyed.
    Handle instance = nullptr;
    if (call(api.mig_by_index, handle, i, &instance) == kSuccess && instance != nullptr) {
      state.instances.push_back(instance);
    }
  }
  return state;
}

void add_instances(const Api& api, const Device& gpu, const MigState& mig,
                   const std::vector<std::string>& wanted, std::vector<Device>& devices) {
  for (const Handle handle : mig.instances) {
    Device instance;
    instance.handle = handle;
    instance.index = gpu.index;
    instance.pci_id = gpu.pci_id;
    instance.uuid = ask_uuid(api, handle);
    instance.is_mig = true;
    instance.parent = gpu.handle;
    instance.parent_uuid = gpu.uuid;
    if (call(api.gpu_instance, handle, &instance.gpu_instance) != kSuccess ||
        call(api.compute_instance, handle, &instance.compute_instance) != kSuccess) {
      continue;
    }
    // A GPU that is wanted as a whole is wanted with its instances.
    if (is_wanted(wanted, instance) || is_wanted(wanted, gpu)) devices.push_back(instance);
  }
}

}  // namespace

bool is_wanted(const std::vector<std::string>& wanted, const Device& device) {
  return is_chosen(wanted, {.index = device.index,
                            .uuid = device.uuid,
                            .pci_id = device.pci_id,
                            .is_mig = device.is_mig});
}

std::int32_t DeviceNumbers::number_of(const Device& device) {
  for (std::size_t i = 0; i < known_.size(); ++i) {
    Known& known = known_[i];
    const bool by_uuid = !device.uuid.empty() && known.uuid == device.uuid;
    const bool by_pci = !device.is_mig && !device.pci_id.empty() && known.pci_id == device.pci_id &&
                        (known.uuid.empty() || device.uuid.empty());
    if (!by_uuid && !by_pci) continue;
    if (known.uuid.empty()) known.uuid = device.uuid;
    return static_cast<std::int32_t>(i);
  }
  // An instance shares its GPU's address, which must not lead to it.
  known_.push_back({device.uuid, device.is_mig ? std::string() : device.pci_id});
  return static_cast<std::int32_t>(known_.size()) - 1;
}

DeviceList list_devices(const Api& api, const std::vector<std::string>& wanted,
                        const std::string& root) {
  DeviceList list;
  list.code = call(api.device_count, &list.shown);
  if (list.code != kSuccess) return list;
  list.shown = std::min(list.shown, kMostDevices);
  for (std::uint32_t i = 0; i < list.shown; ++i) {
    Device device;
    device.index = i;
    const Return code = call(api.device_by_index, i, &device.handle);
    if (code == kNoPermission) {
      ++list.denied;
      continue;
    }
    device.is_lost = code != kSuccess || device.handle == nullptr;
    MigState mig;
    if (!device.is_lost) {
      device.uuid = ask_uuid(api, device.handle);
      device.pci_id = ask_pci(api, device.handle);
      const SleepState sleep = sleep_state(root, device.pci_id);
      device.may_sleep = sleep != SleepState::kNever;
      device.is_asleep = sleep == SleepState::kAsleep;
      if (!device.is_asleep) mig = ask_mig(api, device.handle);
    }
    device.has_mig_enabled = mig.enabled;
    device.mig_instances = static_cast<std::uint32_t>(mig.instances.size());
    if (is_wanted(wanted, device)) list.devices.push_back(device);
    add_instances(api, device, mig, wanted, list.devices);
  }
  return list;
}

bool is_mig_unchanged(const Api& api, const Device& device) {
  if (device.is_mig || device.is_lost || device.is_asleep) return true;
  const MigState mig = ask_mig(api, device.handle);
  return mig.enabled == device.has_mig_enabled && mig.instances.size() == device.mig_instances;
}

bool find_again(const Api& api, Device& device) {
  Handle handle = nullptr;
  // The kernel's short domain is accepted, too.
  const Return code = device.pci_id.empty()
                          ? call(api.device_by_index, device.index, &handle)
                          : call(api.device_by_pci, device.pci_id.c_str(), &handle);
  if (code != kSuccess || handle == nullptr) return false;
  // A handle can be had of a GPU that does not answer.
  std::uint32_t celsius = 0;
  const Return answer = call(api.temperature, handle, 0U, &celsius);
  if (is_device_gone(answer) || answer == kUnknown) return false;
  const std::string uuid = ask_uuid(api, handle);
  if (uuid.empty() || (!device.uuid.empty() && uuid != device.uuid)) return false;
  device.handle = handle;
  device.uuid = uuid;
  if (device.pci_id.empty()) device.pci_id = ask_pci(api, handle);
  return true;
}

}  // namespace pyrometer::sources::nvml
