// zip archives, read from front to back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/archive_reader.h"
#include "base/input_window.h"

namespace pyrometer::base {

// Our own, because libarchive ends an archive at its first damaged member, and gives nothing of the
// block that the damage lies in. Goes by the headers before the members, so that neither a pipe nor
// an archive without its end (where the directory is) is a problem.
class ZipReader final : public ArchiveReader {
 public:
  explicit ZipReader(std::unique_ptr<ByteSource> source);

  [[nodiscard]] Result<bool> next() override;
  [[nodiscard]] std::unique_ptr<ByteSource> content() override;
  void collect_remarks(std::vector<std::string>& out) const override;

 private:
  class Packed;
  class Inflated;
  class Checked;

  enum class Found { kMember, kDirectory, kEnd };
  [[nodiscard]] Found find_header();
  [[nodiscard]] bool take_header();
  void take_extra(std::string_view extra);
  void leave_member();
  [[nodiscard]] Error ends_early() const;

  InputWindow window_;
  std::uint16_t method_ = 0;
  bool encrypted_ = false;
  bool has_descriptor_ = false;
  bool sizes_follow_ = false;  // behind the content, in a descriptor: packed_left_ is not known
  std::int64_t packed_left_ = 0;
  std::int64_t packed_done_ = 0;
  bool read_to_end_ = false;               // the content was
  std::optional<std::uint32_t> checksum_;  // known beforehand
  bool cut_short_ = false;                 // its end is missing, and whoever read it was told
};

}  // namespace pyrometer::base
