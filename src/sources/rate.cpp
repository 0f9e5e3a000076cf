#include "sources/rate.h"

#include <utility>

namespace pyrometer::sources {

Value Rate::update(std::uint64_t counter, std::int64_t time_ns, double scale) {
  const auto before = std::exchange(last_, counter);
  const std::int64_t elapsed = time_ns - std::exchange(last_ns_, time_ns);
  if (!before || elapsed <= 0) return Value::missing(Absence::kNotYet);
  if (counter < *before) return Value::missing(Absence::kNotAvailable, "the counter was reset");
  return Value::number(static_cast<double>(counter - *before) * scale * 1e9 /
                       static_cast<double>(elapsed));
}

}  // namespace pyrometer::sources
