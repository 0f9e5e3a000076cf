// Bars and small curves made of characters.
#pragma once

#include <span>
#include <string>

namespace pyrometer::output {

// A bar for `fraction` (0–1) of `width` columns: eighths of a block with `unicode`, else '#'.
// Anything above zero shows at least a sliver.
[[nodiscard]] std::string bar(double fraction, int width, bool unicode);

// One character per value (thinned to at most `width` by taking the largest of neighbours), from
// the lowest to the highest level of [0, highest]; with `unicode` from U+2581 to U+2588.
[[nodiscard]] std::string sparkline(std::span<const double> values, double highest, int width,
                                    bool unicode);

}  // namespace pyrometer::output
