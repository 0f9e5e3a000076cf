#include "model/waterfall.h"

namespace pyrometer::model {

DurationNs busy_time(const CauseTimes& causes) {
  DurationNs sum = 0;
  for (std::size_t i = 0; i < kCauseCount; ++i) {
    const CauseGroup group = cause_info(static_cast<Cause>(i)).group;
    if (group != CauseGroup::kIdle && group != CauseGroup::kUnattributed) sum += causes[i];
  }
  return sum;
}

DurationNs DeviceWaterfall::busy() const { return busy_time(causes); }

}  // namespace pyrometer::model
