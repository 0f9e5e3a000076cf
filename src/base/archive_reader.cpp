#include "base/archive_reader.h"

#include "base/libarchive_reader.h"
#include "base/tar_reader.h"
#include "base/zip_reader.h"

namespace pyrometer::base {
namespace {

constexpr std::size_t kTarMagicOffset = 257;
constexpr std::size_t kHeadBytes = 512;

bool looks_like_zip(std::string_view head) {
  return head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06");
}

bool looks_like_tar(std::string_view head) {
  return head.size() > kTarMagicOffset && head.substr(kTarMagicOffset).starts_with("ustar");
}

}  // namespace

bool looks_like_archive(std::string_view head) {
  return looks_like_zip(head) || looks_like_tar(head) || head.starts_with("7z\xBC\xAF\x27\x1C");
}

bool looks_like_other_compression(std::string_view head) {
  return head.starts_with(
             "\xFD"
             "7zXZ") ||
         head.starts_with("BZh") || head.starts_with("\x04\x22\x4D\x18");
}

std::unique_ptr<ArchiveReader> open_archive(std::unique_ptr<ByteSource> source) {
  auto peek = std::make_unique<PeekSource>(std::move(source));
  // An error of the source comes again when the archive is read.
  const std::string head(peek->peek(kHeadBytes).value_or(""));
  if (looks_like_zip(head)) return std::make_unique<ZipReader>(std::move(peek));
  if (looks_like_tar(head)) return std::make_unique<TarReader>(std::move(peek));
  return std::make_unique<LibarchiveReader>(std::move(peek));
}

void ArchiveReader::add_damage(std::int64_t offset, std::string message) {
  damage_.push_back(archive_error(offset, std::move(message)));
}

Error archive_error(std::int64_t offset, std::string message) {
  return {.kind = ErrorKind::kDamaged,
          .message = std::move(message),
          .offset = offset,
          .advice = "Copy the file again from where it was recorded"};
}

}  // namespace pyrometer::base
