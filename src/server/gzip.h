// Packing for clients that ask for it.
#pragma once

#include <string>
#include <string_view>

namespace pyrometer::server {

// One gzip member; empty where it fails. Any thread.
[[nodiscard]] std::string gzip(std::string_view text);

}  // namespace pyrometer::server
