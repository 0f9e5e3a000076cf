// The machine's own name.
#pragma once

#include <string>

namespace pyrometer::readout {

// Empty where it has none.
[[nodiscard]] std::string host_name();

}  // namespace pyrometer::readout
