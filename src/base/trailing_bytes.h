// What to say about bytes behind the end of compressed data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_source.h"

namespace pyrometer::base {

// "N bytes after the end of the gzip data ignored (…)", for data that ends at byte `begin` of
// `source`, of which `consumed` bytes have been read. Reads on where that is the only way to count,
// but not without end: a pipe may have none.
[[nodiscard]] std::string describe_trailing_bytes(ByteSource& source, std::int64_t begin,
                                                  std::int64_t consumed, std::string_view data);

}  // namespace pyrometer::base
