#include <iterator>
#include <string_view>

#include "importers/kineto/rows.h"

namespace pyrometer::importers::kineto {
namespace {

using model::StatSeverity;

struct MishapKind {
  Mishap what;
  std::string_view id;
  StatSeverity severity;
  std::string_view help;
};

constexpr MishapKind kKinds[] = {
    {Mishap::kStrayComma, "stray_comma", StatSeverity::kInfo, "commas that separate nothing"},
    {Mishap::kMissingComma, "missing_comma", StatSeverity::kInfo,
     "events that no comma separates from the one before"},
    {Mishap::kForeignText, "foreign_text", StatSeverity::kInfo,
     "places where text that is no JSON (a log line, say) stands between the events"},
    {Mishap::kControlCharacters, "control_characters", StatSeverity::kInfo,
     "events whose name holds raw control characters: shown as blanks"},
    {Mishap::kInvalidUtf8, "invalid_utf8", StatSeverity::kInfo,
     "events whose name is not valid UTF-8: the broken bytes are shown as U+FFFD"},
    {Mishap::kInvalidEscape, "invalid_escape", StatSeverity::kInfo,
     "events whose name has unescaped backslashes (a Windows path): kept as they are"},
    {Mishap::kMendedEvent, "mended_event", StatSeverity::kInfo,
     "events that were not valid JSON and could be read all the same"},
    {Mishap::kDamagedEvent, "damaged_event", StatSeverity::kDataLoss,
     "places where an event was damaged beyond reading: dropped"},
    {Mishap::kDuplicateKey, "duplicate_key", StatSeverity::kInfo,
     "events that give a key twice: the last value counts"},
    {Mishap::kTruncatedFile, "truncated_file", StatSeverity::kDataLoss,
     "the file ends before its events do: whatever followed is missing"},
    {Mishap::kNegativeDuration, "negative_duration", StatSeverity::kInfo,
     "events with a negative duration: taken as 0"},
    {Mishap::kMissingTime, "missing_time", StatSeverity::kDataLoss,
     "events without a readable time stamp: dropped"},
    {Mishap::kMissingDuration, "missing_duration", StatSeverity::kDataLoss,
     "events without a readable duration: dropped"},
    {Mishap::kMissingName, "missing_name", StatSeverity::kDataLoss,
     "events without a name: dropped"},
    {Mishap::kMissingPhase, "missing_phase", StatSeverity::kDataLoss,
     "events that do not say what they are (no ph): dropped"},
    {Mishap::kMissingCategory, "missing_category", StatSeverity::kDataLoss,
     "events that do not say what they are (no cat): dropped"},
    {Mishap::kUnknownCategory, "unknown_category", StatSeverity::kInfo,
     "events of categories that no analysis uses"},
    {Mishap::kUnknownPhase, "unknown_phase", StatSeverity::kInfo, "events of an unknown kind (ph)"},
    {Mishap::kUnmatchedBegin, "unmatched_begin", StatSeverity::kDataLoss,
     "begin events without their end: dropped"},
    {Mishap::kUnmatchedEnd, "unmatched_end", StatSeverity::kDataLoss,
     "end events without their begin: dropped"},
    {Mishap::kNoDevice, "no_device", StatSeverity::kInfo,
     "device activities that do not name their device: shown on device 0"},
};
static_assert(std::size(kKinds) == static_cast<std::size_t>(Mishap::kCount));

}  // namespace

void MishapCounts::merge(const MishapCounts& other) {
  for (std::size_t i = 0; i < kKindCount; ++i) {
    add(static_cast<Mishap>(i), other.first_[i], other.count_[i]);
  }
}

void MishapCounts::report(model::ImportStats& stats) const {
  for (const MishapKind& kind : kKinds) {
    const auto i = static_cast<std::size_t>(kind.what);
    if (count_[i] > 0) stats.add(kind.id, kind.severity, first_[i], kind.help, count_[i]);
  }
}

void ChunkRows::clear() {
  activities.clear();
  api_calls.clear();
  host_ops.clear();
  annotations.clear();
  python.clear();
  overhead.clear();
  syncs.clear();
  memory.clear();
  comms.clear();
  halves.clear();
  thread_names.clear();
  spans.clear();
  events = 0;
  hip_names = false;
  mishaps = {};
  new_names.clear();
  new_threads.clear();
  new_configs.clear();
}

}  // namespace pyrometer::importers::kineto
