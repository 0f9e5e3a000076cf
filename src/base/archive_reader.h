// Members of tar, zip and 7z archives, in their order, as byte streams. Nothing is unpacked to
// disk.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_source.h"

namespace pyrometer::base {

// Judged by content: zip and 7z by their magic number, tar by that of its first header, which lies
// at byte 257. `head` is what the stream begins with, after gzip and zstd have been undone; 512
// bytes decide.
[[nodiscard]] bool looks_like_archive(std::string_view head);
// xz, bzip2 and lz4 files, which libarchive undoes.
[[nodiscard]] bool looks_like_other_compression(std::string_view head);

// Damage does not end an archive: what comes before it is delivered, reading goes on at the next
// member that can be found, and take_damage() says what was in between.
class ArchiveReader {
 public:
  ArchiveReader() = default;
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;
  virtual ~ArchiveReader() = default;

  // Steps to the next member that is a regular file. False at the end of the archive. Errors, after
  // which there is no going on: kDamaged, kUnsupported, kIo from the source.
  [[nodiscard]] virtual Result<bool> next() = 0;
  // Name of the current member, with its folders.
  [[nodiscard]] const std::string& name() const { return name_; }
  // The current member's bytes. Valid until next() and within the life of the reader. Where they
  // end before their time, read() says so as the last thing, with the offset in the archive.
  [[nodiscard]] virtual std::unique_ptr<ByteSource> content() = 0;
  // What was found damaged outside the members' bytes since the last call, with its offset in the
  // archive.
  [[nodiscard]] std::vector<Error> take_damage() { return std::exchange(damage_, {}); }
  // Of the source, see ByteSource.
  virtual void collect_remarks(std::vector<std::string>& out) const = 0;

 protected:
  void add_damage(std::int64_t offset, std::string message);

  std::string name_;

 private:
  std::vector<Error> damage_;
};

// The source has to look like an archive.
[[nodiscard]] std::unique_ptr<ArchiveReader> open_archive(std::unique_ptr<ByteSource> source);

// An xz, bzip2 or lz4 stream, undone.
[[nodiscard]] std::unique_ptr<ByteSource> decompress_other(std::unique_ptr<ByteSource> inner);

// What a damaged archive says of itself: kDamaged, at a byte of the archive.
[[nodiscard]] Error archive_error(std::int64_t offset, std::string message);

}  // namespace pyrometer::base
