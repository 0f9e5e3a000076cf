#include "sources/replay/recorded_source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>

#include "sources/device_choice.h"
#include "sources/procfs/proc_reader.h"

namespace pyrometer::sources::replay {
namespace {

constexpr std::array kGroups = {Group{"fast", kFast}, Group{"slow", kSlow}, Group{"once", kOnce}};
enum : std::size_t { kFastGroup };
constexpr std::int64_t kGoneAfter = 10'000'000'000;  // twice the slow group's period

std::optional<MetricId> metric_called(std::string_view name) {
  static const std::map<std::string_view, MetricId> kByName = [] {
    std::map<std::string_view, MetricId> names;
    for (std::size_t i = 0; i < kMetricCount; ++i) {
      const auto metric = static_cast<MetricId>(i);
      names.emplace(metric_info(metric).id, metric);
    }
    return names;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? std::nullopt : std::optional(found->second);
}

// A Gap's text has to live as long as the program. Recordings give the same few again and again.
std::string_view keep(std::string_view text) {
  constexpr std::size_t kMost = 1000;
  static std::mutex mutex;
  static std::set<std::string, std::less<>> kept;
  const std::lock_guard lock(mutex);
  const auto found = kept.find(text);
  if (found != kept.end()) return *found;
  if (kept.size() >= kMost || text.size() > 1000) return "the recording says why";
  return *kept.emplace(text).first;
}

// Undoes Value::reason().
Value absence_of(std::string_view reason) {
  for (int i = 0; i <= static_cast<int>(Absence::kFailed); ++i) {
    const auto absence = static_cast<Absence>(i);
    const std::string_view words = absence_text(absence);
    if (!reason.starts_with(words)) continue;
    std::string_view rest = reason.substr(words.size());
    if (rest.empty()) return Value::missing(absence);
    if (rest.starts_with(": ")) return Value::missing(absence, keep(rest.substr(2)));
  }
  return Value::missing(Absence::kNotAvailable, keep(reason));
}

Value value_of(const RecordedRow& row) {
  if (row.number && std::isfinite(*row.number)) return Value::number(*row.number);
  if (row.number) return Value::missing(Absence::kImplausible);
  if (row.text.starts_with("= ")) return Value::text(row.text.substr(2));
  return absence_of(row.text);
}

// The number behind a word; nothing where it is something else.
std::optional<std::int32_t> numbered(std::string_view& text, std::string_view word) {
  std::string_view rest = text;
  if (take_word(rest) != word) return std::nullopt;
  const auto number = take_number(rest);
  if (!number || *number > 0x7FFFFFFF) return std::nullopt;
  text = rest;
  return static_cast<std::int32_t>(*number);
}

}  // namespace

std::optional<Subject> recorded_subject(std::string_view object) {
  const auto device = numbered(object, "gpu");
  if (!device) return std::nullopt;
  if (trim(object).empty()) return Subject{.scope = Scope::kDevice, .device = *device};
  const auto pid = numbered(object, "process");
  if (!pid || !trim(object).empty()) return std::nullopt;
  return Subject{.scope = Scope::kDeviceProcess, .device = *device, .pid = *pid};
}

// A device's numbers are those of one moment: once it is lost, they say nothing of it.
void RecordedSource::Device::forget_numbers() {
  std::erase_if(readings, [](const auto& entry) {
    const auto& [pid, metric] = entry.first;
    const bool stays = metric == MetricId::kGpuIndex || metric == MetricId::kGpuLost ||
                       metric == MetricId::kGpuAsleep || entry.second.value.text() != nullptr;
    return pid >= 0 || !stays;
  });
  seen_ns.clear();
}

void RecordedSource::Device::take(Reading reading) {
  newest_ns = reading.time_ns;
  const bool is_out =
      reading.metric == MetricId::kGpuLost || reading.metric == MetricId::kGpuAsleep;
  if (is_out && reading.value.number() != nullptr && *reading.value.number() > 0) forget_numbers();
  // The number of processes comes before the list of them.
  if (reading.metric == MetricId::kGpuProcesses) listed_ns = reading.time_ns;
  const std::int32_t pid = reading.subject.pid;
  if (pid >= 0) seen_ns[pid] = reading.time_ns;
  readings.insert_or_assign({pid, reading.metric}, std::move(reading));
}

// Those that the last list did not name. What a process is, is recorded once: it is kept or
// dropped as a whole.
void RecordedSource::Device::drop_ended_processes() {
  std::erase_if(seen_ns, [this](const auto& entry) { return entry.second < listed_ns; });
  std::erase_if(readings, [this](const auto& entry) {
    return entry.first.first >= 0 && !seen_ns.contains(entry.first.first);
  });
}

RecordedSource::RecordedSource(std::unique_ptr<RecordedRows> rows, RecordedOptions options)
    : rows_(std::move(rows)), options_(std::move(options)) {}

std::span<const Group> RecordedSource::groups() const { return kGroups; }

base::Result<bool> RecordedSource::fetch() {
  RecordedRow row;
  next_.reset();
  while (true) {
    auto more = rows_->next(row);
    if (!more || !*more) return more;
    const auto subject = recorded_subject(row.object);
    const auto metric = metric_called(row.metric);
    constexpr std::int64_t kLatest = 1'000'000'000'000'000'000;  // 31 years since the machine began
    if (row.time_ns < 0 || row.time_ns > kLatest) continue;      // of a damaged file
    // A metric that this version does not know, or not of a device: no error.
    if (!subject || !metric || metric_info(*metric).scope != subject->scope) continue;
    next_ = Reading{*metric, *subject, row.time_ns, value_of(row)};
    return true;
  }
}

base::Result<void> RecordedSource::play(std::int64_t end) {
  while (next_ && next_->time_ns <= end) {
    last_ns_ = next_->time_ns;
    devices_[next_->subject.device].take(std::move(*next_));
    if (auto more = fetch(); !more) return base::fail(more.error());
  }
  // A list may be cut in two by the moment that is played.
  constexpr std::int64_t kListTakes = 200'000'000;
  for (auto& [number, device] : devices_) {
    if (!next_ || end - device.listed_ns >= kListTakes) device.drop_ended_processes();
  }
  *options_.played = next_ ? end : last_ns_;
  return {};
}

base::Result<void> RecordedSource::start() {
  if (auto begun = rows_->rewind(); !begun) return begun;
  devices_.clear();
  auto more = fetch();
  if (!more) return base::fail(more.error());
  if (!*more) {
    return base::fail(
        {.kind = base::ErrorKind::kEmpty, .message = "the recording holds no readings of a GPU"});
  }
  first_ns_ = next_->time_ns;
  begun_at_ =
      options_.from_ns ? first_ns_ + *options_.from_ns : std::numeric_limits<std::int64_t>::max();
  begun_ns_ = options_.clock();
  if (auto played = play(begun_at_); !played) return played;
  if (options_.from_ns && *options_.from_ns > kFirstRound && !next_) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    return base::fail({.kind = base::ErrorKind::kUsage,
                       .message = "the recording's readings of GPUs end after " +
                                  std::to_string((last_ns_ - first_ns_) / kSecond) + " s"});
  }
  return {};
}

bool RecordedSource::is_wanted(const Device& device) const {
  const auto text = [&device](MetricId metric) {
    const auto found = device.readings.find({-1, metric});
    const std::string* const it =
        found == device.readings.end() ? nullptr : found->second.value.text();
    return it == nullptr ? std::string() : *it;
  };
  DeviceName name{.uuid = text(MetricId::kGpuUuid),
                  .pci_id = text(MetricId::kGpuPciId),
                  .is_mig = !text(MetricId::kGpuParentUuid).empty()};
  const auto index = device.readings.find({-1, MetricId::kGpuIndex});
  if (index != device.readings.end() && index->second.value.number() != nullptr) {
    name.index = static_cast<std::int64_t>(*index->second.value.number());
  }
  return is_chosen(options_.devices, name);
}

base::Result<void> RecordedSource::sample(std::size_t group, Batch& batch) {
  if (group != kFastGroup) return {};
  const std::int64_t now = options_.clock();
  if (options_.from_ns) {
    if (!next_) {
      if (!options_.repeat) {
        return base::fail({.kind = base::ErrorKind::kEmpty, .message = "the recording has ended"});
      }
      if (auto begun = start(); !begun) return begun;
    }
    const double elapsed = static_cast<double>(now - begun_ns_) * options_.speed;
    constexpr double kLongest = 1e18;  // 31 years
    const auto end = begun_at_ + static_cast<std::int64_t>(std::min(elapsed, kLongest));
    if (auto played = play(end); !played) return played;
  }
  const std::int64_t moment = *options_.played;
  for (const auto& [number, device] : devices_) {
    if (moment - device.newest_ns > kGoneAfter || !is_wanted(device)) continue;
    for (const auto& [key, reading] : device.readings) {
      batch.put(reading.metric, reading.subject, now, reading.value);
    }
  }
  return {};
}

}  // namespace pyrometer::sources::replay
