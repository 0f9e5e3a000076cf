#include "sources/reading.h"

#include <array>
#include <cstddef>

namespace pyrometer::sources {
namespace {

constexpr std::array<std::string_view, 10> kAbsences = {
    "not supported",   "no permission",        "needs a second sample",
    "does not apply",  "not available",        "belongs to another PID namespace",
    "the GPU is lost", "the GPU is suspended", "the driver gave an impossible value",
    "the call failed"};
static_assert(kAbsences.size() == static_cast<std::size_t>(Absence::kFailed) + 1);

constexpr std::array<std::string_view, 9> kEvents = {
    "source_failed", "source_back", "source_stale",    "device_found", "device_lost",
    "device_back",   "xid",         "process_started", "process_ended"};
static_assert(kEvents.size() == static_cast<std::size_t>(EventKind::kProcessEnded) + 1);

}  // namespace

std::string_view absence_text(Absence absence) {
  return kAbsences[static_cast<std::size_t>(absence)];
}

std::string_view event_name(EventKind kind) { return kEvents[static_cast<std::size_t>(kind)]; }

std::string Value::reason() const {
  const Gap* why = gap();
  if (why == nullptr) return {};
  std::string words(absence_text(why->absence));
  if (!why->text.empty()) words.append(": ").append(why->text);
  return words;
}

}  // namespace pyrometer::sources
