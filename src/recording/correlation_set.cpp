#include "recording/correlation_set.h"

#include <algorithm>

namespace pyrometer::recording {

void CorrelationSet::sort() {
  if (sorted_) return;
  std::sort(ids_.begin(), ids_.end());
  sorted_ = true;
  at_ = 0;
}

bool CorrelationSet::contains(std::uint32_t id) {
  sort();
  constexpr std::size_t kNear = 8;
  const std::size_t before = at_;
  while (at_ < ids_.size() && ids_[at_] < id && at_ - before < kNear) ++at_;
  const bool behind = at_ > 0 && ids_[at_ - 1] >= id;
  const bool far = at_ < ids_.size() && ids_[at_] < id;
  if (behind || far) {
    at_ = static_cast<std::size_t>(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
  }
  return at_ < ids_.size() && ids_[at_] == id;
}

}  // namespace pyrometer::recording
