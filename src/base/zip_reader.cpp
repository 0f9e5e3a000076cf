#include "base/zip_reader.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/decompress.h"

namespace pyrometer::base {
namespace {

constexpr std::size_t kHeader = 30;
constexpr std::string_view kMemberMark = "PK\x03\x04";
constexpr std::string_view kDescriptorMark = "PK\x07\x08";
constexpr std::size_t kDescriptor = 16;      // mark, checksum, packed and unpacked size
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;  // the size is in the zip64 field

enum Method : std::uint16_t { kStored = 0, kDeflated = 8, kBzip2 = 12, kZstd = 93, kXz = 95 };

std::uint64_t little_endian(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(text[at + i]);
  }
  return value;
}

// Whether a member's header begins here, and not bytes that look like its mark.
bool is_header(std::string_view text) {
  if (text.size() < kHeader || !text.starts_with(kMemberMark)) return false;
  constexpr std::uint64_t kNewestVersion = 100;
  constexpr std::uint64_t kLongestName = 4096;
  const std::uint64_t name = little_endian(text, 26, 2);
  return little_endian(text, 4, 1) <= kNewestVersion && name > 0 && name <= kLongestName &&
         little_endian(text, 8, 2) < 100;
}

bool is_directory(std::string_view text) {
  return text.starts_with("PK\x01\x02") || text.starts_with("PK\x05\x06") ||
         text.starts_with("PK\x06\x06") || text.starts_with("PK\x06\x08");
}

}  // namespace

// The member's bytes as they lie in the archive.
class ZipReader::Packed final : public ByteSource {
 public:
  explicit Packed(ZipReader& owner) : owner_(owner) {}

  Result<std::size_t> read(char* to, std::size_t size) override {
    InputWindow& window = owner_.window_;
    if (owner_.sizes_follow_) {
      const bool more = !window.peek_some().empty();
      size = more ? std::min(size, before_descriptor()) : size;
      owner_.read_to_end_ = size == 0;
    } else {
      size =
          static_cast<std::size_t>(std::min(static_cast<std::int64_t>(size), owner_.packed_left_));
    }
    if (size == 0) return std::size_t{0};
    const std::size_t got = window.read(to, size);
    owner_.packed_done_ += static_cast<std::int64_t>(got);
    owner_.packed_left_ -= static_cast<std::int64_t>(got);
    if (got > 0) return got;
    owner_.cut_short_ = true;
    return fail(owner_.ends_early());
  }

 private:
  // How much of what is buffered is sure to lie before the descriptor, which ends a member whose
  // size was not known when it was written: its mark, and the size so far.
  std::size_t before_descriptor() {
    const std::string_view text = owner_.window_.peek(InputWindow::kLargest);
    for (std::size_t at = text.find(kDescriptorMark); at != std::string_view::npos;
         at = text.find(kDescriptorMark, at + 1)) {
      if (at + kDescriptor > text.size()) return at > 0 ? at : text.size();
      const auto so_far = static_cast<std::uint64_t>(owner_.packed_done_) + at;
      if (little_endian(text, at + 8, 4) == (so_far & kIn64)) return at;
    }
    // The mark may begin at the end of what is buffered.
    return text.size() < InputWindow::kLargest ? text.size() : text.size() - kDescriptor;
  }

  ZipReader& owner_;
};

// Raw deflate data, undone.
class ZipReader::Inflated final : public ByteSource {
 public:
  explicit Inflated(ZipReader& owner) : owner_(owner) { isal_inflate_init(&state_); }

  Result<std::size_t> read(char* to, std::size_t size) override {
    state_.next_out = reinterpret_cast<std::uint8_t*>(to);
    state_.avail_out = static_cast<std::uint32_t>(std::min<std::size_t>(size, 1U << 30));
    const std::uint32_t asked = state_.avail_out;
    while (state_.avail_out == asked && !error_ && !done()) step();
    const std::size_t got = asked - state_.avail_out;
    if (got == 0 && error_) return fail(*error_);
    return got;
  }

 private:
  [[nodiscard]] bool done() const { return state_.block_state == ISAL_BLOCK_FINISH; }

  void step() {
    std::string_view input = owner_.window_.peek_some();
    if (!owner_.sizes_follow_) {
      input = input.substr(0, static_cast<std::size_t>(std::min(
                                  owner_.packed_left_, static_cast<std::int64_t>(input.size()))));
    }
    // isal_inflate() only reads, whatever its type says. It may hold output still without input.
    state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data()));
    state_.avail_in = static_cast<std::uint32_t>(input.size());
    const std::uint32_t room = state_.avail_out;
    const int code = isal_inflate(&state_);
    owner_.read_to_end_ = done();
    const auto used = static_cast<std::int64_t>(input.size() - state_.avail_in);
    const std::int64_t at = owner_.window_.offset();
    owner_.window_.skip(used);
    owner_.packed_left_ -= used;
    owner_.packed_done_ += used;
    if (done()) {  // it reads ahead, a word at a time
      const std::int32_t ahead = state_.read_in_length / 8;
      owner_.window_.unread(static_cast<std::size_t>(ahead));
      owner_.packed_left_ += ahead;
    }
    if (code < 0) {
      error_ = archive_error(at, "the archive is damaged: this member cannot be inflated further");
    } else if (input.empty() && state_.avail_out == room && !done()) {
      const bool cut = owner_.packed_left_ > 0 || owner_.sizes_follow_;
      owner_.cut_short_ = cut;
      error_ = cut ? owner_.ends_early()
                   : archive_error(at, "the archive is damaged: this member's data has no end");
    }
  }

  ZipReader& owner_;
  inflate_state state_{};
  std::optional<Error> error_;
};

// Compares the checksum at the end.
class ZipReader::Checked final : public ByteSource {
 public:
  Checked(ZipReader& owner, std::unique_ptr<ByteSource> inner)
      : owner_(owner), inner_(std::move(inner)) {}

  Result<std::size_t> read(char* to, std::size_t size) override {
    if (size == 0) return std::size_t{0};
    auto got = inner_->read(to, size);
    if (!got) return got;
    sum_ = crc32_gzip_refl(sum_, reinterpret_cast<const unsigned char*>(to), *got);
    if (*got > 0) return got;
    if (!owner_.checksum_ && owner_.has_descriptor_) owner_.checksum_ = in_descriptor();
    if (!owner_.checksum_ || sum_ == *owner_.checksum_) return got;
    return fail(archive_error(owner_.window_.offset(),
                              "the archive is damaged: wrong checksum of this member"));
  }
  bool is_costly() const override { return true; }

 private:
  [[nodiscard]] std::optional<std::uint32_t> in_descriptor() const {
    const std::string_view text = owner_.window_.peek(kDescriptor);
    if (text.size() < kDescriptor || !text.starts_with(kDescriptorMark)) return std::nullopt;
    return static_cast<std::uint32_t>(little_endian(text, 4, 4));
  }

  ZipReader& owner_;
  std::unique_ptr<ByteSource> inner_;
  std::uint32_t sum_ = 0;
};

ZipReader::ZipReader(std::unique_ptr<ByteSource> source) : window_(std::move(source)) {}

Error ZipReader::ends_early() const {
  if (window_.error()) return *window_.error();
  return archive_error(window_.offset(), "the archive ends early, inside this member");
}

Result<bool> ZipReader::next() {
  leave_member();
  while (true) {
    switch (find_header()) {
      case Found::kDirectory:
        return false;
      case Found::kEnd:
        if (cut_short_) return false;
        if (window_.error()) return fail(*window_.error());
        add_damage(window_.offset(),
                   "the archive ends early: its directory is missing, and "
                   "members may be");
        cut_short_ = true;
        return false;
      case Found::kMember:
        if (!take_header()) continue;
        if (!name_.ends_with('/')) return true;  // else a folder
        leave_member();
    }
  }
}

// What nobody read of the current member.
void ZipReader::leave_member() {
  // Where the size is not known, find_header() has to look for the end.
  const bool known = !sizes_follow_ && packed_left_ > 0;
  if (known && window_.skip(packed_left_) < packed_left_ && !cut_short_ && !window_.error()) {
    cut_short_ = true;
    add_damage(window_.offset(), "the archive ends early, inside the member " + name_);
  }
  packed_left_ = 0;
}

// Stands at the next member's header afterwards. What lies before it is the descriptor of the
// member before, or the rest of one whose size is not known; anything else is damage.
ZipReader::Found ZipReader::find_header() {
  const std::int64_t begin = window_.offset();
  // zip64 has one of 24 bytes.
  constexpr std::int64_t kDescriptorRest = 24;
  constexpr std::int64_t kAnything = std::numeric_limits<std::int64_t>::max();
  const std::int64_t harmless = !sizes_follow_ ? (has_descriptor_ ? kDescriptorRest : 0)
                                : read_to_end_ ? kDescriptorRest
                                               : kAnything;
  sizes_follow_ = false;
  const auto note_gap = [&] {
    const std::int64_t gap = window_.offset() - begin;
    if (gap <= harmless) return;
    add_damage(begin, std::to_string(gap) +
                          " bytes of the archive are damaged: members may be "
                          "missing");
  };
  while (true) {
    const std::string_view text = window_.peek(InputWindow::kLargest);
    if (text.size() < 4) {
      window_.skip(static_cast<std::int64_t>(text.size()));
      if (!cut_short_) note_gap();
      return Found::kEnd;
    }
    const std::size_t mark = std::min(text.find("PK"), text.size() - 1);
    const bool at_end = text.size() < InputWindow::kLargest;
    if (mark + kHeader > text.size() && mark > 0 && !at_end) {
      window_.skip(static_cast<std::int64_t>(mark));
      continue;
    }
    const std::string_view here = text.substr(mark);
    const bool member = is_header(here);
    const bool directory = is_directory(here);
    window_.skip(static_cast<std::int64_t>(mark));
    if (member || directory) {
      note_gap();
      return member ? Found::kMember : Found::kDirectory;
    }
    window_.skip(1);
  }
}

// False where the archive ends inside the header.
bool ZipReader::take_header() {
  const std::string header(window_.peek(kHeader));
  const auto name_size = static_cast<std::size_t>(little_endian(header, 26, 2));
  const auto extra_size = static_cast<std::size_t>(little_endian(header, 28, 2));
  const std::uint64_t flags = little_endian(header, 6, 2);
  encrypted_ = (flags & 1U) != 0;
  sizes_follow_ = (flags & 8U) != 0;
  method_ = static_cast<std::uint16_t>(little_endian(header, 8, 2));
  checksum_.reset();
  if (!sizes_follow_) checksum_ = static_cast<std::uint32_t>(little_endian(header, 14, 4));
  packed_left_ = static_cast<std::int64_t>(little_endian(header, 18, 4));
  packed_done_ = 0;
  read_to_end_ = false;
  has_descriptor_ = sizes_follow_;
  if (packed_left_ > 0) sizes_follow_ = false;  // some writers know, and add a descriptor anyway
  window_.skip(kHeader);
  name_ = window_.peek(name_size);
  if (name_.size() < name_size) return false;
  window_.skip(static_cast<std::int64_t>(name_size));
  const std::string extra(window_.peek(std::min(extra_size, InputWindow::kLargest)));
  if (packed_left_ == kIn64) take_extra(extra);
  window_.skip(static_cast<std::int64_t>(extra_size));
  return true;
}

// The zip64 field: unpacked size, then packed size, both there in a header before a member.
void ZipReader::take_extra(std::string_view extra) {
  constexpr std::uint64_t kZip64 = 1;
  while (extra.size() >= 4) {
    const auto size = static_cast<std::size_t>(little_endian(extra, 2, 2));
    if (little_endian(extra, 0, 2) == kZip64 && size >= 16 && extra.size() >= 20) {
      const std::uint64_t packed = little_endian(extra, 12, 8);
      if (packed < std::uint64_t{1} << 62) packed_left_ = static_cast<std::int64_t>(packed);
      return;
    }
    extra.remove_prefix(std::min(extra.size(), size + 4));
  }
}

std::unique_ptr<ByteSource> ZipReader::content() {
  auto packed = std::make_unique<Packed>(*this);
  std::unique_ptr<ByteSource> plain;
  switch (encrypted_ ? 0xFFFF : method_) {
    case kStored:
      plain = std::move(packed);
      break;
    case kDeflated:
      plain = std::make_unique<Inflated>(*this);
      break;
    case kZstd:
      plain = unzstd(std::move(packed));
      break;
    case kBzip2:
    case kXz:
      plain = decompress_other(std::move(packed));
      break;
    default:
      return failing_source({.kind = ErrorKind::kUnsupported,
                             .message = encrypted_ ? "the archive member is encrypted"
                                                   : "the archive member is packed with method " +
                                                         std::to_string(method_) +
                                                         ", which is not supported",
                             .advice = "Unpack the archive, and name the folder"});
  }
  return std::make_unique<Checked>(*this, std::move(plain));
}

void ZipReader::collect_remarks(std::vector<std::string>& out) const {
  window_.source().collect_remarks(out);
}

}  // namespace pyrometer::base
