// Regular spacing of rare events among steps.
#pragma once

#include <cstddef>
#include <vector>

namespace pyrometer::analysis {

// The distance between the positions (ascending) when all are equally far apart, and the first and
// the last leave less than a whole distance to the ends of [0, size); else 0. Two positions are
// enough, one is not.
[[nodiscard]] std::size_t even_spacing(const std::vector<std::size_t>& positions, std::size_t size);

}  // namespace pyrometer::analysis
