// What only libarchive reads: 7z archives, and files packed with xz, bzip2 or lz4.
#pragma once

#include <memory>

#include "base/archive_reader.h"

namespace pyrometer::base {

class LibarchiveReader final : public ArchiveReader {
 public:
  // `raw`: the source is one compressed file, seen as an archive of one nameless member.
  explicit LibarchiveReader(std::unique_ptr<ByteSource> source, bool raw = false);
  ~LibarchiveReader() override;

  [[nodiscard]] Result<bool> next() override;
  [[nodiscard]] std::unique_ptr<ByteSource> content() override;
  void collect_remarks(std::vector<std::string>& out) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pyrometer::base
