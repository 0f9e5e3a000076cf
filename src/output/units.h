// Quantities in words: one way to write each, everywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

namespace pyrometer::output {

// A number with three significant digits, or whole when it is larger: "8.12", "81.2", "8120".
[[nodiscard]] std::string format_number(double number);

using base::duration_unit;
using base::DurationUnit;
using base::format_duration;
using base::format_duration_range;
using base::format_percent;

[[nodiscard]] std::string format_tenths_of_percent(std::int64_t tenths);
[[nodiscard]] std::string format_percent_range(double low, double high);  // "45–52%", "up to 8.5%"

// "12,345"; a mean that is not whole keeps decimals: "12.5".
[[nodiscard]] std::string format_count(double count);

// "812 B", "8.12 KiB", "1.50 GiB"; powers of 1024.
[[nodiscard]] std::string format_bytes(double bytes);

// "8.12 mJ", "812 J", "12.3 kJ", "1.50 kWh".
[[nodiscard]] std::string format_energy(double joules);

// "$0.0042", "$0.42", "$42.10", "$4,210".
[[nodiscard]] std::string format_usd(double usd);
[[nodiscard]] std::string format_usd_range(double low, double high);  // "$32–39", "up to $5.07"
// A part of `whole`, without the sign, with as many decimals as suit the whole.
[[nodiscard]] std::string format_usd_part(double usd, double whole);

// A fact or threshold in its unit ("fraction", "ns", "bytes", "count", "GB/s", …): a unit that has
// no form of its own stands behind the number.
[[nodiscard]] std::string format_quantity(double value, std::string_view unit);

// Rounds parts of a whole to multiples of 1/`units` of their sum, so that they add up to `units`
// exactly (largest remainder; ties go to the earlier part). All zero when the sum is not positive.
[[nodiscard]] std::vector<std::int64_t> apportion(std::span<const std::int64_t> parts,
                                                  std::int64_t units);

}  // namespace pyrometer::output
