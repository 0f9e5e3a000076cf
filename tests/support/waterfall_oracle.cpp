#include "tests/support/waterfall_oracle.h"

#include <limits>
#include <optional>

namespace pyrometer::testing {
namespace {

using model::ActivityKind;
using model::ApiClass;
using model::Cause;
using model::Index;
using model::KernelClass;
using model::kNone;
using model::TimeNs;

std::optional<Cause> region(const model::RankTimeline& t, model::ThreadId thread, TimeNs time) {
  std::optional<Cause> found;
  TimeNs best_start = std::numeric_limits<TimeNs>::min();
  TimeNs best_end = 0;
  for (Index i = 0; i < t.annotations.size(); ++i) {
    if (t.annotations.thread[i] != thread) continue;
    const TimeNs start = t.annotations.start[i];
    const TimeNs end = t.annotations.end[i];
    if (start > time || end <= time) continue;
    const std::string_view name = t.name(t.annotations.name[i]);
    std::optional<Cause> cause;
    if (name.starts_with("enumerate(DataLoader)")) cause = Cause::kIdleInput;
    if (name == "validation") cause = Cause::kIdleValidation;
    if (name == "checkpoint") cause = Cause::kIdleCheckpoint;
    if (name == "logging") cause = Cause::kIdleLogging;
    if (!cause) continue;
    if (start > best_start || (start == best_start && end < best_end)) {
      found = cause;
      best_start = start;
      best_end = end;
    }
  }
  return found;
}

std::optional<Cause> call_or_op(const model::RankTimeline& t, const model::RankAnalysis& a,
                                model::ThreadId thread, TimeNs time) {
  bool alloc = false;
  bool blocked = false;
  bool issue = false;
  for (Index i = 0; i < t.api_calls.size(); ++i) {
    if (t.api_calls.thread[i] != thread || t.api_calls.start[i] > time ||
        t.api_calls.end[i] <= time) {
      continue;
    }
    const ApiClass klass = a.api_class[t.api_calls.name[i]];
    if (klass == ApiClass::kAlloc || klass == ApiClass::kFree) {
      alloc = true;
    } else if (klass == ApiClass::kStreamSync || klass == ApiClass::kDeviceSync) {
      blocked = true;
    } else if (klass == ApiClass::kCopyAsync && t.api_calls.first_activity[i] != kNone) {
      blocked = true;  // random timelines copy from pageable memory only
    } else {
      issue = true;
    }
  }
  for (Index i = 0; i < t.host_ops.size(); ++i) {
    issue = issue || (t.host_ops.thread[i] == thread && t.host_ops.start[i] <= time &&
                      t.host_ops.end[i] > time);
  }
  if (alloc) return Cause::kIdleAlloc;
  if (blocked) return Cause::kIdleSync;
  if (issue) return Cause::kIdleLaunch;
  return std::nullopt;
}

Cause host_cause(const model::RankTimeline& t, const model::RankAnalysis& a, model::ThreadId thread,
                 TimeNs time) {
  if (const auto own = region(t, thread, time)) return *own;
  if (const auto main = region(t, t.main_thread, time)) return *main;
  if (const auto own = call_or_op(t, a, thread, time)) return *own;
  if (const auto main = call_or_op(t, a, t.main_thread, time)) return *main;
  return Cause::kIdleHost;
}

// Lower is stronger.
int precedence(const model::RankTimeline& t, const model::RankAnalysis& a, Index i) {
  if (t.activities.kind[i] != ActivityKind::kKernel) return 2;
  return a.kernel_traits[t.activities.name[i]].klass == KernelClass::kComm ? 1 : 0;
}

Cause cause_of_activity(const model::RankTimeline& t, const model::RankAnalysis& a, Index i) {
  if (t.activities.kind[i] != ActivityKind::kKernel) return Cause::kCopyH2d;
  const model::KernelTraits traits = a.kernel_traits[t.activities.name[i]];
  switch (traits.klass) {
    case KernelClass::kComm:
      return Cause::kCommTransfer;
    case KernelClass::kGemm:
      return traits.matrix_units == model::MatrixUnits::kYes ? Cause::kComputeTensor
                                                             : Cause::kComputeMath;
    case KernelClass::kElementwise:
      return Cause::kComputeMemory;
    default:
      return Cause::kComputeOther;
  }
}

}  // namespace

model::Cause cause_at(const model::RankTimeline& t, const model::RankAnalysis& a,
                      model::DeviceId device, TimeNs time) {
  const model::ActivityTable& act = t.activities;
  constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();
  Index running = kNone;
  TimeNs busy_end = std::numeric_limits<TimeNs>::min();
  TimeNs next_start = kNever;
  for (Index i = 0; i < act.size(); ++i) {
    if (act.device[i] != device || act.end[i] == act.start[i]) continue;
    if (act.start[i] <= time && act.end[i] > time) {
      if (running == kNone || precedence(t, a, i) < precedence(t, a, running)) running = i;
    } else if (act.end[i] <= time) {
      busy_end = std::max(busy_end, act.end[i]);
    } else {
      next_start = std::min(next_start, act.start[i]);
    }
  }
  // Rows come by start, so the first of a kind that runs is the earliest started.
  if (running != kNone) return cause_of_activity(t, a, running);
  if (next_start == kNever) {
    return t.has_host_events() ? host_cause(t, a, t.main_thread, time) : Cause::kUnattributed;
  }
  Index call = kNone;
  for (Index i = 0; i < act.size(); ++i) {
    if (act.device[i] != device || act.start[i] != next_start || act.end[i] == act.start[i]) {
      continue;
    }
    const Index launch = act.launch[i];
    if (launch == kNone) continue;
    if (call == kNone || t.api_calls.start[launch] < t.api_calls.start[call]) call = launch;
  }
  if (call == kNone) return Cause::kUnattributed;
  const TimeNs launched = t.api_calls.start[call];
  if (launched < busy_end) return Cause::kIdleDevice;
  if (time >= launched) return Cause::kIdleLaunch;
  return host_cause(t, a, t.api_calls.thread[call], time);
}

}  // namespace pyrometer::testing
