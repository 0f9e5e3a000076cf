// Members of tar, zip and 7z archives, in their order, as byte streams. Nothing is unpacked to
// disk.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/byte_source.h"

namespace pyrometer::base {

// Judged by content: zip and 7z by their magic number, tar by that of its first header, which lies
// at byte 257. `head` is what the stream begins with, after gzip and zstd have been undone; 512
// bytes decide.
[[nodiscard]] bool looks_like_archive(std::string_view head);
// xz, bzip2 and lz4 files, which libarchive undoes.
[[nodiscard]] bool looks_like_other_compression(std::string_view head);

class ArchiveReader {
 public:
  // `raw`: the source is one compressed file, seen as an archive of one nameless member.
  explicit ArchiveReader(std::unique_ptr<ByteSource> source, bool raw = false);
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;
  ~ArchiveReader();

  // Steps to the next member that is a regular file. False at the end of the archive. Errors:
  // kFormat where it is damaged or ends early, kUnsupported, kIo from the source.
  [[nodiscard]] Result<bool> next();
  // Name of the current member, with its folders.
  [[nodiscard]] const std::string& name() const { return name_; }
  // The current member's bytes. Valid until next() and within the life of the reader.
  [[nodiscard]] std::unique_ptr<ByteSource> content();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string name_;
};

// An xz, bzip2 or lz4 stream, undone.
[[nodiscard]] std::unique_ptr<ByteSource> decompress_other(std::unique_ptr<ByteSource> inner);

}  // namespace pyrometer::base
