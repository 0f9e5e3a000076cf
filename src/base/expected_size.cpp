#include <zstd.h>

#include <array>
#include <cstdio>

#include "base/archive_reader.h"
#include "base/decompress.h"

namespace pyrometer::base {
namespace {

constexpr std::size_t kHeadBytes = 512;

// The last four bytes of a gzip file are the size of its last member, modulo 2^32.
std::int64_t gzip_size(ByteSource& file, std::int64_t packed) {
  // Text packs to a third at worst and a thirtieth at best: beyond this the modulus might matter,
  // or several members.
  constexpr std::int64_t kMaxPacked = std::int64_t{1} << 27;
  std::array<unsigned char, 4> trailer{};
  if (packed > kMaxPacked || file.seek(-4, SEEK_END) < 0) return -1;
  const auto got = read_fully(file, reinterpret_cast<char*>(trailer.data()), trailer.size());
  if (!got || *got != trailer.size()) return -1;
  std::int64_t size = 0;
  for (std::size_t i = trailer.size(); i-- > 0;) size = size * 256 + trailer[i];
  return size >= packed / 2 ? size : -1;
}

}  // namespace

std::int64_t expected_size(const std::string& path) {
  if (path == "-") return -1;
  auto file = open_file(path);
  if (!file) return -1;
  std::array<char, kHeadBytes> bytes{};
  const auto got = read_fully(**file, bytes.data(), bytes.size());
  const std::int64_t packed = (*file)->size_hint();
  if (!got || packed < 0) return -1;
  const std::string_view head(bytes.data(), *got);
  if (looks_like_gzip(head)) return gzip_size(**file, packed);
  if (looks_like_zstd(head)) {
    const unsigned long long size = ZSTD_getFrameContentSize(head.data(), head.size());
    const bool known = size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR;
    return known ? static_cast<std::int64_t>(size) : -1;
  }
  if (looks_like_archive(head) || looks_like_other_compression(head)) return -1;
  return packed;
}

}  // namespace pyrometer::base
