// Which steps keep all their events: the first after warm-up, the slowest, the latest.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "recording/rows.h"
#include "recording/writer.h"

namespace pyrometer::monitor {

// Steps that follow each other, with all their events.
struct Segment {
  model::Interval span;
  std::int64_t first_step = -1;  // -1: no steps are known
  std::int64_t steps = 0;
  model::DurationNs longest = 0;  // of its steps
  recording::DetailRows rows;
};

struct KeepLimits {
  std::size_t first_rows = 120'000;  // events of the first steps, written at once
  std::size_t latest_rows = 60'000;  // events held in memory for the end
  std::size_t slowest_rows = 40'000;
};

// Writes the first segments until their budget is used up, then holds the latest and the slowest
// back until finish(). A run that ends within its warm-up keeps that. One per process.
class KeepPolicy {
 public:
  KeepPolicy(recording::Writer& writer, std::int64_t process, KeepLimits limits)
      : writer_(writer), process_(process), limits_(limits) {}

  // In time order; spans do not overlap.
  void add(Segment segment);
  void finish();

 private:
  [[nodiscard]] bool warm(const Segment& segment);
  void hold_latest(Segment segment);

  recording::Writer& writer_;
  std::int64_t process_;
  KeepLimits limits_;
  std::deque<Segment> warm_up_;
  std::deque<Segment> latest_;
  std::size_t warm_up_rows_ = 0;
  std::size_t latest_rows_ = 0;
  std::size_t first_used_ = 0;
  Segment slowest_;
  double last_step_ = 0;  // ns, mean of the segment before
  bool is_warm_ = false;
};

}  // namespace pyrometer::monitor
