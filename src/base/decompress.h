// Decompression as a ByteSource on top of another one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/byte_source.h"

namespace pyrometer::base {

[[nodiscard]] bool looks_like_gzip(std::string_view head);
[[nodiscard]] bool looks_like_zstd(std::string_view head);

// Several members (frames) one after the other are read as one stream, as gzip and zstd do
// themselves. Errors of read(): kDamaged, with `offset` in the compressed input and a message that
// tells a stream that ends early from one that is damaged.
[[nodiscard]] std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> inner);
[[nodiscard]] std::unique_ptr<ByteSource> unzstd(std::unique_ptr<ByteSource> inner);

// Bytes that a file will have once it is decompressed, as its size, header or trailer says; -1 when
// none of them does. For progress only: a header may lie.
[[nodiscard]] std::int64_t expected_size(const std::string& path);

}  // namespace pyrometer::base
