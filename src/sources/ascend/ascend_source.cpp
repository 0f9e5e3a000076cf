#include "sources/ascend/ascend_source.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sources/ascend/npu_reader.h"
#include "sources/device_choice.h"
#include "sources/nvml/processes.h"
#include "sources/procfs/proc_reader.h"

namespace pyrometer::sources::ascend {
namespace {

constexpr std::array kGroups = {Group{"fast", kFast}, Group{"slow", kSlow}, Group{"once", kOnce}};
enum : std::size_t { kFastGroup, kSlowGroup, kOnceGroup };
constexpr int kMostCards = 64;
constexpr int kMostChips = 8;
constexpr std::size_t kMostProcesses = 1024;

std::string hex(std::uint32_t number, int digits) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int i = digits - 1; i >= 0; --i) text += kDigits[number >> (4 * i) & 0xF];
  return text;
}

}  // namespace

bool has_ascend(const std::string& root) {
  if (access((root + "/usr/local/dcmi/libdcmi.so").c_str(), F_OK) == 0) return true;
  DIR* folder = opendir((root + "/dev").c_str());
  bool found = false;
  while (const dirent* entry = folder == nullptr ? nullptr : readdir(folder)) {
    constexpr std::string_view kPrefix = "davinci";  // davinci0, and davinci_manager without NPUs
    const std::string_view name = entry->d_name;
    found = found || (name.starts_with(kPrefix) && to_number(name.substr(kPrefix.size())));
  }
  if (folder != nullptr) closedir(folder);
  return found;
}

AscendSource::AscendSource(AscendOptions options)
    : options_(std::move(options)), same_namespace_(nvml::in_host_pid_namespace(options_.root)) {}

AscendSource::~AscendSource() { stop(); }

std::span<const Group> AscendSource::groups() const { return kGroups; }

base::Result<void> AscendSource::start() {
  auto library = options_.open();
  if (!library) return base::fail(library.error());
  if (const Return code = library->api.init(); code != kSuccess) {
    return base::fail({.kind = base::ErrorKind::kIo,
                       .message = "starting DCMI failed (" + std::to_string(code) + ")",
                       .advice = "See whether npu-smi works, and dmesg"});
  }
  library_ = std::make_unique<Library>(std::move(*library));
  for (Npu& npu : npus_) npu.is_identified = false;
  if (auto found = find_npus(); !found) {
    library_.reset();
    return found;
  }
  return {};
}

base::Result<void> AscendSource::find_npus() {
  const Api& api = library_->api;
  std::array<int, kMostCards> cards{};
  int count = 0;
  if (const Return code = api.card_list(&count, cards.data(), kMostCards); code != kSuccess) {
    return base::fail({.kind = base::ErrorKind::kIo,
                       .message = "DCMI lists no cards (" + std::to_string(code) + ")",
                       .advice = "See whether npu-smi works, and dmesg"});
  }
  for (int i = 0; i < std::clamp(count, 0, kMostCards); ++i) {
    int chips = 0;
    int mcu = 0;
    int cpu = 0;
    const int card = cards[static_cast<std::size_t>(i)];
    // The count includes chips that are no NPUs.
    if (call(api.device_ids, card, &chips, &mcu, &cpu) != kSuccess &&
        call(api.device_count, card, &chips) != kSuccess) {
      continue;
    }
    for (int chip = 0; chip < std::clamp(chips, 0, kMostChips); ++chip) add_npu(card, chip);
  }
  if (!npus_.empty()) return {};
  return base::fail({.kind = base::ErrorKind::kNotFound,
                     .message = count == 0 ? "the Ascend driver works and shows no NPU"
                                           : "none of the NPUs is among those asked for"});
}

void AscendSource::add_npu(int card, int chip) {
  const auto is_known = [&](const Npu& npu) { return npu.card == card && npu.chip == chip; };
  if (std::ranges::any_of(npus_, is_known)) return;
  const Api& api = library_->api;
  Npu npu{.card = card, .chip = chip};
  if (call(api.logic_id, &npu.index, card, chip) != kSuccess) npu.index = card * kMostChips + chip;
  DieId die{};
  if (call(api.die_id, card, chip, kDieOfChip, &die) == kSuccess) {
    npu.uuid = "NPU";
    for (const std::uint32_t word : die.words) npu.uuid += "-" + hex(word, 8);
  }
  PcieInfo pcie{};
  if (call(api.pcie_info, card, chip, &pcie) == kSuccess) {
    npu.pci_id = hex(static_cast<std::uint32_t>(pcie.domain), 4) + ":" + hex(pcie.bus, 2) + ":" +
                 hex(pcie.slot, 2) + "." + hex(pcie.function, 1);
  }
  if (!is_chosen(options_.devices, {.index = npu.index, .uuid = npu.uuid, .pci_id = npu.pci_id})) {
    return;
  }
  npu.subject.device = kFirstAscendDevice + static_cast<std::int32_t>(npus_.size());
  npus_.push_back(std::move(npu));
}

// A device that did not answer is asked one thing, to see whether it does again.
void AscendSource::look_for(Npu& npu, Batch& batch) {
  if (!npu.is_announced) {
    npu.is_announced = true;
    batch.tell(EventKind::kDeviceFound, npu.subject, monotonic_ns(),
               npu.uuid.empty() ? npu.pci_id : npu.uuid);
  }
  if (!npu.is_lost) return;
  int celsius = 0;
  if (call(library_->api.temperature, npu.card, npu.chip, &celsius) != kSuccess) return;
  npu.is_lost = npu.is_identified = false;
  batch.tell(EventKind::kDeviceBack, npu.subject, monotonic_ns(), "the NPU answers again");
}

base::Result<void> AscendSource::sample(std::size_t group, Batch& batch) {
  if (library_ == nullptr) return start();
  for (Npu& npu : npus_) {
    look_for(npu, batch);
    NpuReader reader(library_->api, npu, batch);
    if (!npu.is_identified || (group == kOnceGroup && options_.identify_always)) {
      npu.is_identified = true;
      reader.read_once();
    }
    if (group == kFastGroup) reader.read_fast();
    if (group == kSlowGroup) {
      reader.read_slow(options_.brief);
      if (!npu.is_lost) read_processes(npu, batch);
    }
    if (!reader.is_gone() || npu.is_lost) continue;
    npu.is_lost = true;
    npu.energy.interrupt();
    batch.tell(EventKind::kDeviceLost, npu.subject, monotonic_ns(),
               "the NPU does not answer any more. See dmesg");
    batch.put(MetricId::kGpuLost, npu.subject, monotonic_ns(), Value::number(1));
  }
  return {};
}

void AscendSource::read_processes(Npu& npu, Batch& batch) {
  std::vector<ProcessMemory> list(kMostProcesses);
  int count = 0;
  const Return code = call(library_->api.processes, npu.card, npu.chip, list.data(), &count);
  if (code != kSuccess) {
    const Gap gap = gap_of(code);
    batch.put(MetricId::kGpuProcesses, npu.subject, monotonic_ns(),
              Value::missing(gap.absence, gap.text));
    return;
  }
  list.resize(static_cast<std::size_t>(std::clamp(count, 0, static_cast<int>(kMostProcesses))));
  batch.put(MetricId::kGpuProcesses, npu.subject, monotonic_ns(),
            Value::number(static_cast<double>(list.size())));
  ProcReader files(options_.root);
  for (const ProcessMemory& process : list) {
    const Subject subject{
        .scope = Scope::kDeviceProcess, .device = npu.subject.device, .pid = process.pid};
    const std::int64_t now = monotonic_ns();
    batch.put(MetricId::kGpuProcessMemory, subject, now,
              Value::number(static_cast<double>(process.bytes)));
    batch.put(MetricId::kGpuProcessCompute, subject, now, Value::number(1));
    batch.put(MetricId::kGpuProcessUtil, subject, now,
              Value::missing(Absence::kNotSupported, "DCMI does not tell it"));
    const auto name = same_namespace_ ? files.read("/proc/" + std::to_string(process.pid) + "/comm")
                                      : std::nullopt;
    batch.put(
        MetricId::kGpuProcessName, subject, now,
        name ? Value::text(std::string(trim(*name)))
             : Value::missing(same_namespace_ ? Absence::kNotAvailable : Absence::kOtherNamespace));
  }
}

void AscendSource::stop() noexcept { library_.reset(); }

}  // namespace pyrometer::sources::ascend
