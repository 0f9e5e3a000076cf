#include "base/tar_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace pyrometer::base {
namespace {

constexpr std::size_t kBlock = 512;
// Zeros behind the last member that are looked through for another one: some tools pad, and an
// archive may be appended to another.
constexpr std::int64_t kMaxZeros = 64 << 20;
constexpr std::int64_t kMaxText = InputWindow::kLargest;  // of a long name or of pax records

std::string_view field(std::string_view header, std::size_t at, std::size_t size) {
  const std::string_view raw = header.substr(at, size);
  return raw.substr(0, raw.find('\0'));
}

// Octal digits between blanks, or GNU's base 256 for what is larger.
std::optional<std::int64_t> number(std::string_view raw) {
  if (!raw.empty() && static_cast<unsigned char>(raw[0]) == 0x80) {
    std::uint64_t value = 0;
    for (const char c : raw.substr(1)) {
      if (value >> 55 != 0) return std::nullopt;
      value = value * 256 + static_cast<unsigned char>(c);
    }
    return static_cast<std::int64_t>(value);
  }
  while (!raw.empty() && raw.front() == ' ') raw.remove_prefix(1);
  std::int64_t value = 0;
  std::size_t digits = 0;
  for (; digits < raw.size() && raw[digits] >= '0' && raw[digits] <= '7'; ++digits) {
    value = value * 8 + (raw[digits] - '0');
  }
  const std::string_view rest = raw.substr(digits);
  const bool ends = rest.empty() || rest.front() == ' ' || rest.front() == '\0';
  return ends ? std::optional(value) : std::nullopt;
}

bool is_sound_header(std::string_view header) {
  constexpr std::size_t kSum = 148;
  constexpr std::size_t kSumSize = 8;
  if (header.size() < kBlock || !header.substr(257).starts_with("ustar")) return false;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const bool own = i >= kSum && i < kSum + kSumSize;  // counts as blanks
    sum += own ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return number(header.substr(kSum, kSumSize)) == sum && number(header.substr(124, 12));
}

bool is_zero(std::string_view block) {
  return block.find_first_not_of('\0') == std::string_view::npos;
}

std::string name_in(std::string_view header) {
  std::string name(field(header, 0, 100));
  const std::string_view prefix = field(header, 345, 155);
  const bool has_prefix = header.substr(257, 6) == std::string_view("ustar\0", 6);
  return has_prefix && !prefix.empty() ? std::string(prefix) + "/" + name : name;
}

}  // namespace

class TarReader::Member final : public ByteSource {
 public:
  explicit Member(TarReader& owner) : owner_(owner) {}

  Result<std::size_t> read(char* to, std::size_t size) override {
    if (owner_.to_next_header_) return read_block(to, size);
    InputWindow& window = owner_.window_;
    const auto wanted =
        static_cast<std::size_t>(std::min(static_cast<std::int64_t>(size), owner_.left_));
    if (wanted == 0) return std::size_t{0};
    const std::size_t got = window.read(to, wanted);
    owner_.left_ -= static_cast<std::int64_t>(got);
    if (got > 0) return got;
    owner_.cut_short_ = true;
    if (window.error()) return fail(*window.error());
    return fail(archive_error(window.offset(), "the archive ends early, " +
                                                   std::to_string(owner_.left_) +
                                                   " bytes before the end of this member"));
  }

 private:
  // As many blocks as are no header; the zeros that fill the last one up are no content.
  Result<std::size_t> read_block(char* to, std::size_t size) {
    InputWindow& window = owner_.window_;
    if (rest_.empty()) {
      const std::string_view block = window.peek(kBlock);
      if (block.empty() && window.error()) return fail(*window.error());
      if (is_sound_header(block)) return std::size_t{0};
      rest_ = block.substr(0, block.find_last_not_of('\0') + 1);
      if (rest_.empty()) return std::size_t{0};  // the end of the archive
      window.skip(static_cast<std::int64_t>(block.size()));
    }
    const std::size_t count = std::min(size, rest_.size());
    rest_.copy(to, count);
    rest_.erase(0, count);
    return count;
  }

  TarReader& owner_;
  std::string rest_;
};

TarReader::TarReader(std::unique_ptr<ByteSource> source) : window_(std::move(source)) {}

Result<bool> TarReader::next() {
  leave_member();
  while (true) {
    const Found found = read_header();
    if (found == Found::kFile) return true;
    if (found == Found::kEnd) {
      if (window_.error() && !cut_short_) return fail(*window_.error());
      return false;
    }
    leave_member();
  }
}

// What nobody read of the current member.
void TarReader::leave_member() {
  if (to_next_header_) {
    Member rest(*this);
    std::string ignored(kBlock, '\0');
    while (rest.read(ignored.data(), ignored.size()).value_or(0) > 0) {
    }
    to_next_header_ = false;
    return;
  }
  const std::int64_t passed = window_.skip(left_);
  if (passed < left_ && !cut_short_ && !window_.error()) {
    cut_short_ = true;
    add_damage(window_.offset(), "the archive ends early, inside the member " + name_);
  }
  window_.skip(padding_);
  left_ = padding_ = 0;
}

TarReader::Found TarReader::read_header() {
  const std::string header(window_.peek(kBlock));
  if (header.empty()) return Found::kEnd;
  if (is_zero(header)) return pass_end_mark() ? read_header() : Found::kEnd;
  if (header.size() < kBlock) {
    add_damage(window_.offset(), "the archive ends early, inside a member's header");
    return Found::kEnd;
  }
  if (!is_sound_header(header)) {
    begin_damaged(header);
    return is_sound_header(window_.peek(kBlock)) ? Found::kOther : Found::kFile;
  }
  window_.skip(kBlock);
  std::int64_t size = number(std::string_view(header).substr(124, 12)).value_or(0);
  const char type = header[156];
  const bool is_file = type == '0' || type == '\0' || type == '7';
  if (is_file && long_size_ >= 0) size = long_size_;
  // Links and folders may give a size, but no content follows.
  const bool has_content =
      is_file || std::string_view("LKxXgSMVNA").find(type) != std::string::npos;
  left_ = has_content ? size : 0;
  padding_ =
      static_cast<std::int64_t>((kBlock - static_cast<std::uint64_t>(left_) % kBlock) % kBlock);
  if (type == 'L') {
    long_name_ = read_text(size);
    long_name_.resize(std::min(long_name_.find('\0'), long_name_.size()));
  } else if (type == 'x' || type == 'X') {
    read_pax(size);
  } else if (type != 'K' && type != 'g') {
    name_ = long_name_.empty() ? name_in(header) : long_name_;
    long_name_.clear();
    long_size_ = -1;
  }
  return is_file ? Found::kFile : Found::kOther;
}

// Passes the zeros that end an archive. True when something follows them that is a member.
bool TarReader::pass_end_mark() {
  const std::int64_t begin = window_.offset();
  while (window_.offset() - begin < kMaxZeros) {
    const std::string_view block = window_.peek(kBlock);
    if (block.size() < kBlock) return false;
    if (!is_zero(block)) {
      // One block of zeros ends nothing: a header was overwritten. Behind two, only a sound one
      // counts.
      return is_sound_header(block) || window_.offset() - begin == kBlock;
    }
    window_.skip(kBlock);
  }
  return false;
}

void TarReader::begin_damaged(std::string_view header) {
  const std::int64_t offset = window_.offset();
  name_ = long_name_.empty() ? std::string(field(header, 0, 100)) : long_name_;
  // Text that is no header has no NUL within the length of a name.
  const bool readable = !name_.empty() && name_.size() < 100 &&
                        std::all_of(name_.begin(), name_.end(),
                                    [](unsigned char c) { return c >= 0x20 && c < 0x7F; });
  if (!readable) name_ = "member at byte " + std::to_string(offset);
  long_name_.clear();
  long_size_ = -1;
  // Else a block of zeros before it was its header.
  const bool is_header = header.substr(257).starts_with("ustar") || readable;
  if (is_header) window_.skip(kBlock);
  to_next_header_ = true;
  add_damage(offset, "the header of the member " + name_ +
                         " is damaged: what follows, up to the next sound header, is read as its "
                         "content; members may be missing");
}

std::string TarReader::read_text(std::int64_t size) {
  std::string text(static_cast<std::size_t>(std::clamp<std::int64_t>(size, 0, kMaxText)), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const std::size_t got = window_.read(text.data() + have, text.size() - have);
    if (got == 0) break;
    have += got;
  }
  text.resize(have);
  left_ -= static_cast<std::int64_t>(have);
  return text;
}

// Records of "LENGTH key=value\n".
void TarReader::read_pax(std::int64_t size) {
  const std::string text = read_text(size);
  for (std::string_view rest = text; !rest.empty();) {
    std::size_t length = 0;
    (void)std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const std::size_t blank = rest.find(' ');
    if (length == 0 || length > rest.size() || blank >= length) return;
    std::string_view record = rest.substr(blank + 1, length - blank - 1);
    rest.remove_prefix(length);
    if (record.ends_with('\n')) record.remove_suffix(1);
    if (record.starts_with("path=")) long_name_ = record.substr(5);
    if (record.starts_with("size=")) {
      (void)std::from_chars(record.data() + 5, record.data() + record.size(), long_size_);
    }
  }
}

std::unique_ptr<ByteSource> TarReader::content() { return std::make_unique<Member>(*this); }

void TarReader::collect_remarks(std::vector<std::string>& out) const {
  window_.source().collect_remarks(out);
}

}  // namespace pyrometer::base
