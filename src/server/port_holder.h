// Which program listens on a port.
#pragma once

#include <cstdint>
#include <string>

namespace pyrometer::server {

// " by dcgm-exporter (process 812)", to follow "taken"; empty where that cannot be seen: others'
// processes are open to root alone.
[[nodiscard]] std::string holder_text(std::uint16_t port);

}  // namespace pyrometer::server
