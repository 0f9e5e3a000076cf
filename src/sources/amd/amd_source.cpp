#include "sources/amd/amd_source.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "sources/amd/sysfs.h"
#include "sources/device_choice.h"
#include "sources/nvml/processes.h"
#include "sources/pci.h"

namespace pyrometer::sources::amd {
namespace {

constexpr std::array kGroups = {Group{"fast", kFast}, Group{"slow", kSlow}, Group{"once", kOnce}};
enum : std::size_t { kFastGroup, kSlowGroup, kOnceGroup };

bool is_ours(const PciDevice& device) {
  return device.vendor == kVendorAmd && device.driver == "amdgpu";
}

}  // namespace

bool has_amd_gpu(const std::string& root) {
  return std::ranges::any_of(list_graphics_devices(root, "amdgpu"), is_ours);
}

AmdSource::AmdSource(AmdOptions options)
    : options_(std::move(options)),
      files_(options_.root),
      processes_(options_.root, nvml::in_host_pid_namespace(options_.root)) {}

AmdSource::~AmdSource() { stop(); }

std::span<const Group> AmdSource::groups() const { return kGroups; }

void AmdSource::find_cards() {
  int index = 0;
  for (const PciDevice& device : list_graphics_devices(options_.root, "amdgpu")) {
    if (!is_ours(device)) continue;
    Card card;
    card.index = index++;
    card.address = device.address;
    card.folder = "/sys/bus/pci/devices/" + device.address;
    if (const auto id = files_.read(card.folder + "/unique_id"); id && !trim(*id).empty()) {
      card.uuid = "GPU-" + std::string(trim(*id));
    }
    if (!is_chosen(options_.devices,
                   {.index = card.index, .uuid = card.uuid, .pci_id = card.address})) {
      continue;
    }
    const bool known = std::ranges::any_of(
        cards_, [&](const Card& other) { return other.address == card.address; });
    if (known) continue;
    card.subject.device = kFirstAmdDevice + static_cast<std::int32_t>(cards_.size());
    card.hwmon = hwmon_folder(options_.root, card.folder);
    cards_.push_back(std::move(card));
  }
}

void AmdSource::open_rsmi_library() {
  if (options_.brief || options_.open == nullptr || rsmi_ != nullptr) return;
  auto library = options_.open();
  if (!library || library->api.init(0) != kRsmiSuccess) return;
  rsmi_ = std::make_unique<RsmiLibrary>(std::move(*library));
  std::uint32_t count = 0;
  if (rsmi_->api.device_count(&count) != kRsmiSuccess) return;
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(count, 1024); ++i) {
    std::uint64_t id = 0;
    if (rsmi_->api.pci_id(i, &id) != kRsmiSuccess) continue;
    for (Card& card : cards_) {
      if (card.rsmi < 0 && card.address == rsmi_address(id)) card.rsmi = static_cast<int>(i);
    }
  }
}

base::Result<void> AmdSource::start() {
  find_cards();
  if (cards_.empty()) {
    return base::fail({.kind = base::ErrorKind::kNotFound,
                       .message = has_amd_gpu(options_.root)
                                      ? "none of the AMD GPUs is among those asked for"
                                      : "the amdgpu driver has no GPU"});
  }
  for (Card& card : cards_) card.is_identified = false;
  open_rsmi_library();
  return {};
}

// Whether it is still there, and awake.
void AmdSource::look_at(Card& card, Batch& batch) {
  const bool was_lost = card.is_lost;
  const bool was_asleep = card.is_asleep;
  card.is_lost = access((options_.root + card.folder).c_str(), F_OK) != 0;
  const SleepState sleep =
      card.is_lost ? SleepState::kNever : sleep_state(options_.root, card.address);
  card.may_sleep = sleep != SleepState::kNever;
  card.is_asleep = sleep == SleepState::kAsleep;
  if (!card.is_announced) {
    card.is_announced = true;
    batch.tell(EventKind::kDeviceFound, card.subject, monotonic_ns(),
               card.uuid.empty() ? card.address : card.uuid);
  }
  if (card.is_lost && !was_lost) {
    batch.tell(EventKind::kDeviceLost, card.subject, monotonic_ns(),
               "the GPU has gone from the PCI bus (" + card.address + "). See dmesg");
  }
  if (!card.is_lost && was_lost) {
    card.hwmon = hwmon_folder(options_.root, card.folder);
    batch.tell(EventKind::kDeviceBack, card.subject, monotonic_ns(),
               "the GPU is there again (" + card.address + ")");
  }
  if (was_lost != card.is_lost || (was_asleep && !card.is_asleep)) card.is_identified = false;
  // A driver that was loaded late has its sensors late.
  if (card.hwmon.empty() && !card.is_asleep) card.hwmon = hwmon_folder(options_.root, card.folder);
}

base::Result<void> AmdSource::sample(std::size_t group, Batch& batch) {
  if (group == kSlowGroup) processes_.look(monotonic_ns());
  const RsmiApi* rsmi = rsmi_ == nullptr ? nullptr : &rsmi_->api;
  for (Card& card : cards_) {
    look_at(card, batch);
    CardReader reader(files_, card, batch, rsmi);
    if (!card.is_identified || (group == kOnceGroup && options_.identify_always)) {
      card.is_identified = true;
      reader.read_once();
    }
    if (group == kFastGroup) reader.read_fast();
    if (group == kSlowGroup) {
      reader.read_slow(options_.brief);
      read_processes(card, batch);
    }
  }
  const bool all_lost = std::ranges::all_of(cards_, &Card::is_lost);
  if (!all_lost || has_amd_gpu(options_.root)) return {};
  return base::fail({.kind = base::ErrorKind::kNotFound,
                     .message = "the amdgpu driver has no GPU any more",
                     .advice = "See dmesg, and whether the driver was unloaded"});
}

void AmdSource::read_processes(const Card& card, Batch& batch) {
  // The files of open clients can be read while the GPU sleeps.
  if (card.is_lost || card.is_asleep) return;
  const std::vector<DrmProcess>& processes = processes_.on(card.address);
  batch.put(MetricId::kGpuProcesses, card.subject, monotonic_ns(),
            Value::number(static_cast<double>(processes.size())));
  constexpr std::string_view kHidden = "the kernel tells it to the process's user and root alone";
  for (const DrmProcess& process : processes) {
    const Subject subject{
        .scope = Scope::kDeviceProcess, .device = card.subject.device, .pid = process.pid};
    const auto put = [&](MetricId metric, Value value) {
      batch.put(metric, subject, monotonic_ns(), std::move(value));
    };
    put(MetricId::kGpuProcessMemory, number_or(process.vram, Absence::kNoPermission, kHidden));
    put(MetricId::kGpuProcessSharedMemory, number_or(process.gtt, Absence::kNoPermission, kHidden));
    put(MetricId::kGpuProcessUtil, process.util);
    put(MetricId::kGpuProcessCompute, Value::number(process.computes ? 1 : 0));
    const auto name = files_.read("/proc/" + std::to_string(process.pid) + "/comm");
    put(MetricId::kGpuProcessName,
        name ? Value::text(std::string(trim(*name)))
             : Value::missing(files_.gap().absence, "no such process is visible"));
  }
}

void AmdSource::stop() noexcept {
  if (rsmi_ != nullptr) static_cast<void>(rsmi_->api.shut_down());
  rsmi_.reset();
  for (Card& card : cards_) card.rsmi = -1;
}

}  // namespace pyrometer::sources::amd
