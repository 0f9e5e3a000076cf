// tar archives: ustar, GNU and pax.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/archive_reader.h"
#include "base/input_window.h"

namespace pyrometer::base {

// Our own, because libarchive ends an archive at its first damaged header. A header is known by its
// checksum; behind a damaged one, all up to the next sound one is taken for that member's content.
class TarReader final : public ArchiveReader {
 public:
  explicit TarReader(std::unique_ptr<ByteSource> source);

  [[nodiscard]] Result<bool> next() override;
  [[nodiscard]] std::unique_ptr<ByteSource> content() override;
  void collect_remarks(std::vector<std::string>& out) const override;

 private:
  class Member;

  enum class Found { kFile, kOther, kEnd };
  [[nodiscard]] Found read_header();
  [[nodiscard]] bool pass_end_mark();
  void begin_damaged(std::string_view header);
  void read_pax(std::int64_t size);
  [[nodiscard]] std::string read_text(std::int64_t size);
  void leave_member();

  InputWindow window_;
  std::int64_t left_ = 0;        // bytes of the current member
  std::int64_t padding_ = 0;     // behind them
  bool to_next_header_ = false;  // the current member's header is damaged: its end is not known
  bool cut_short_ = false;       // its end is missing, and whoever read it was told
  std::string long_name_;        // for the next member
  std::int64_t long_size_ = -1;
};

}  // namespace pyrometer::base
