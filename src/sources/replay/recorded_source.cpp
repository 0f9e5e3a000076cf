#include "sources/replay/recorded_source.h"

#include <array>
#include <cmath>
#include <mutex>
#include <set>

#include "sources/procfs/proc_reader.h"

namespace pyrometer::sources::replay {
namespace {

constexpr std::array kGroups = {Group{"fast", kFast}, Group{"slow", kSlow}, Group{"once", kOnce}};
enum : std::size_t { kFastGroup, kSlowGroup, kOnceGroup };

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
    // A metric that this version does not know, or not of a device: no error.
    if (!subject || !metric || metric_info(*metric).scope != subject->scope) continue;
    next_ = Reading{*metric, *subject, row.time_ns, value_of(row)};
    return true;
  }
}

base::Result<void> RecordedSource::start() {
  if (auto begun = rows_->rewind(); !begun) return begun;
  fixed_.clear();
  auto more = fetch();
  if (!more) return base::fail(more.error());
  if (!*more) {
    return base::fail(
        {.kind = base::ErrorKind::kEmpty, .message = "the recording holds no readings of a GPU"});
  }
  first_ns_ = next_->time_ns;
  begun_ns_ = options_.clock();
  return {};
}

base::Result<void> RecordedSource::play(Batch& batch, std::int64_t now_ns) {
  const double elapsed = static_cast<double>(now_ns - begun_ns_) * options_.speed;
  // Of what changed several times since the last look, the last counts.
  std::map<Key, Reading> latest;
  while (next_ && static_cast<double>(next_->time_ns - first_ns_) <= elapsed) {
    const Key key{next_->metric, {next_->subject.device, next_->subject.pid}};
    next_->time_ns = now_ns;
    if (next_->value.number() == nullptr)
      fixed_.insert_or_assign(key, *next_);
    else
      fixed_.erase(key);
    latest.insert_or_assign(key, std::move(*next_));
    if (auto more = fetch(); !more) return base::fail(more.error());
  }
  for (auto& [key, reading] : latest) batch.readings.push_back(std::move(reading));
  return {};
}

base::Result<void> RecordedSource::sample(std::size_t group, Batch& batch) {
  const std::int64_t now = options_.clock();
  if (!next_) {
    if (!options_.repeat) {
      return base::fail({.kind = base::ErrorKind::kEmpty, .message = "the recording has ended"});
    }
    if (auto begun = start(); !begun) return begun;
  }
  if (group == kOnceGroup && options_.identify_always) {
    for (const auto& [key, reading] : fixed_) {
      batch.put(reading.metric, reading.subject, now, reading.value);
    }
  }
  return play(batch, now);
}

}  // namespace pyrometer::sources::replay
