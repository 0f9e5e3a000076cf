#include "monitor/sync_windows.h"

#include <algorithm>

namespace pyrometer::monitor {
namespace {

constexpr model::DurationNs kSecond = 1'000'000'000;
constexpr std::int64_t kStepsBefore = 10;  // that tell whether there is anything to name
constexpr double kWaitsPerStep = 0.5;  // programs that log every tenth step have none to speak of
constexpr std::int64_t kStepsInside = 20;
constexpr model::DurationNs kShortest = kSecond;  // the hook looks ten times a second at most
constexpr model::DurationNs kLongest = 5 * kSecond;
constexpr model::DurationNs kFirstInterval = 60 * kSecond;
constexpr model::DurationNs kLongestInterval = 3600 * kSecond;

}  // namespace

bool is_blocking_call(std::string_view name) {
  if (name.find("Synchronize") != name.npos) return true;
  return (name.starts_with("cudaMemcpy") || name.starts_with("cuMemcpy")) &&
         name.find("Async") == name.npos;
}

void SyncWindows::add_step() { ++steps_; }

void SyncWindows::add_call(std::string_view name) { waits_ += is_blocking_call(name) ? 1 : 0; }

bool SyncWindows::want_open(model::TimeNs now, bool watched) {
  if (open_) {
    const model::DurationNs passed = now - opened_;
    const bool enough = passed >= kLongest || (passed >= kShortest && steps_ >= kStepsInside);
    if (watched && !enough) return true;
    open_ = false;
    // A window that its turn cut short is made up for in the next one.
    interval_ = interval_ == 0 ? kFirstInterval : std::min(2 * interval_, kLongestInterval);
    next_ = enough ? now + interval_ : now;
    steps_ = waits_ = 0;
    return false;
  }
  if (seen_ == 0 && steps_ > 0) {
    seen_ = now;
    next_ = now + undisturbed_;
  }
  const bool waits = steps_ >= kStepsBefore &&
                     static_cast<double>(waits_) >= kWaitsPerStep * static_cast<double>(steps_);
  if (!watched || !waits || now < next_) return false;
  open_ = true;
  opened_ = now;
  steps_ = waits_ = 0;
  return true;
}

}  // namespace pyrometer::monitor
