// Prices that make sense. Beyond them, someone has mistaken the unit, or the number would print as
// nonsense.
#pragma once

#include <string_view>

namespace pyrometer::cli {

inline constexpr double kLowestPrice = 0.001;  // USD per GPU-hour
inline constexpr double kHighestPrice = 100'000;
inline constexpr std::string_view kPriceRange =
    "a number from 0.001 to 100000 (USD per GPU-hour), such as 2.50";

}  // namespace pyrometer::cli
