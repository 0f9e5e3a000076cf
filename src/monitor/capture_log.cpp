#include "monitor/capture_log.h"

#include <algorithm>
#include <limits>

namespace pyrometer::monitor {

void CaptureLog::add(model::TimeNs time, bool on, ring::CaptureReason) {
  const auto after = std::upper_bound(switches_.begin(), switches_.end(), time,
                                      [](model::TimeNs t, const Switch& s) { return t < s.time; });
  switches_.insert(after, {time, on});
  ever_on_ = ever_on_ || on;
}

void CaptureLog::disturb(model::TimeNs start) {
  disturbed_.push_back({start, std::numeric_limits<model::TimeNs>::max()});
}

void CaptureLog::disturb_until(model::TimeNs end) {
  if (!disturbed_.empty()) disturbed_.back().end = end;
}

// Before the others: the last one may still be open.
void CaptureLog::disturb(model::Interval span) { disturbed_.insert(disturbed_.begin(), span); }

bool CaptureLog::is_disturbed(model::Interval span) const {
  return std::any_of(disturbed_.begin(), disturbed_.end(), [span](const model::Interval& one) {
    return one.start < span.end && span.start < one.end;
  });
}

bool CaptureLog::covers(model::Interval span) const {
  if (is_disturbed(span)) return false;
  bool on = false;
  model::TimeNs since = 0;
  for (const Switch& one : switches_) {
    if (one.on && !on) since = one.time;
    if (!one.on && on && one.time >= span.end && since <= span.start) return true;
    if (!one.on && one.time > span.start && one.time < span.end) return false;
    on = one.on;
    if (one.time >= span.end) break;
  }
  return on && since <= span.start;
}

bool CaptureLog::changes_in(model::Interval span) const {
  const auto inside = [span](const Switch& one) {
    return one.time > span.start && one.time < span.end;
  };
  return is_disturbed(span) || std::any_of(switches_.begin(), switches_.end(), inside);
}

void CaptureLog::forget(model::TimeNs time) {
  std::size_t old = 0;
  while (old + 1 < switches_.size() && switches_[old + 1].time < time) ++old;
  switches_.erase(switches_.begin(), switches_.begin() + static_cast<std::ptrdiff_t>(old));
  std::erase_if(disturbed_, [time](const model::Interval& one) { return one.end < time; });
}

std::string reason_text(ring::CaptureReason reason) {
  using ring::CaptureReason;
  switch (reason) {
    case CaptureReason::kNone:
      return "";
    case CaptureReason::kStarted:
      return "started";
    case CaptureReason::kDutyCycle:
      return "the recorder's duty cycle";
    case CaptureReason::kProfilerStarted:
      return "another profiler of the framework is running";
    case CaptureReason::kProfilerEnded:
      return "the other profiler has ended";
    case CaptureReason::kClientHoldsCupti:
      return "another tool holds the GPU's tracing interface (CUPTI)";
    case CaptureReason::kNoCupti:
      return "libcupti was not found";
    case CaptureReason::kUnsupportedCupti:
      return "this version of libcupti is not supported";
    case CaptureReason::kMonitorGone:
      return "the recorder is gone";
    case CaptureReason::kForked:
      return "forked from a recorded process";
    case CaptureReason::kCuptiError:
      return "libcupti reported an error";
    case CaptureReason::kProcessEnds:
      return "the process ends";
    case CaptureReason::kDisabled:
      return "switched off";
  }
  return "unknown";
}

}  // namespace pyrometer::monitor
