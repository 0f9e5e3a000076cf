// How changes and their intervals are written.
#pragma once

#include <string>

#include "output/units.h"
#include "verify/bootstrap.h"

namespace pyrometer::output {

// "+3.80" or "-0.12", in the unit.
[[nodiscard]] std::string format_signed(double ns, const DurationUnit& unit);
// "+12.3%" of a ratio of 1.123.
[[nodiscard]] std::string format_change(double ratio);
// "+11.8 to +12.9%"; "–" where the interval is not known.
[[nodiscard]] std::string format_change_range(const verify::Interval& ratio);

}  // namespace pyrometer::output
