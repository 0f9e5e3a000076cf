#include "base/libarchive_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

namespace pyrometer::base {
namespace {

constexpr std::size_t kInputBytes = 128 * 1024;

struct CloseArchive {
  void operator()(archive* a) const { archive_read_free(a); }
};

}  // namespace

struct LibarchiveReader::Impl {
  std::unique_ptr<ByteSource> source;
  std::array<char, kInputBytes> input;
  std::optional<Error> source_error;
  std::unique_ptr<archive, CloseArchive> handle;
  bool opened = false;
  bool raw = false;  // a compressed file rather than an archive

  static la_ssize_t read_block(archive* a, void* context, const void** block) {
    auto* self = static_cast<Impl*>(context);
    auto got = self->source->read(self->input.data(), self->input.size());
    if (!got) {
      self->source_error = got.error();
      archive_set_error(a, EIO, "%s", got.error().message.c_str());
      return -1;
    }
    *block = self->input.data();
    return static_cast<la_ssize_t>(*got);
  }

  static la_int64_t seek_block(archive* /*a*/, void* context, la_int64_t offset, int whence) {
    const std::int64_t place = static_cast<Impl*>(context)->source->seek(offset, whence);
    return place < 0 ? ARCHIVE_FATAL : place;
  }

  // `offset` in what the archive holds, -1 outside its members.
  [[nodiscard]] Error error(std::int64_t offset = -1) const {
    if (source_error) return *source_error;
    const char* why = handle ? archive_error_string(handle.get()) : nullptr;
    const std::string what = raw ? "the compressed data is damaged or ends early: "
                                 : "the archive is damaged or ends early: ";
    return archive_error(offset, what + (why ? why : "unknown"));
  }

  [[nodiscard]] bool open() {
    opened = true;
    handle.reset(archive_read_new());
    if (!handle) return false;
    archive* a = handle.get();
    if (raw) {
      // One by one: among "all" are filters that start programs of the system.
      archive_read_support_filter_bzip2(a);
      archive_read_support_filter_lz4(a);
      archive_read_support_filter_xz(a);
      archive_read_support_format_raw(a);
    } else {
      archive_read_support_format_7zip(a);
    }
    archive_read_set_read_callback(a, read_block);
    archive_read_set_seek_callback(a, seek_block);
    archive_read_set_callback_data(a, this);
    return archive_read_open1(a) == ARCHIVE_OK;
  }
};

namespace {

// Takes libarchive's own blocks: archive_read_data() would throw away what it has of a read that
// meets damage.
class MemberSource final : public ByteSource {
 public:
  using ErrorOf = std::function<Error(std::int64_t offset)>;
  MemberSource(archive* a, ErrorOf error_of) : archive_(a), error_of_(std::move(error_of)) {}

  Result<std::size_t> read(char* to, std::size_t size) override {
    while (block_.empty() && hole_ == 0) {
      if (error_) return fail(*error_);
      if (ended_) return std::size_t{0};
      take_block();
    }
    if (hole_ > 0) {  // of a sparse member
      const std::size_t count = std::min(size, static_cast<std::size_t>(hole_));
      std::memset(to, 0, count);
      hole_ -= static_cast<std::int64_t>(count);
      return count;
    }
    const std::size_t count = std::min(size, block_.size());
    std::memcpy(to, block_.data(), count);
    block_.remove_prefix(count);
    return count;
  }
  bool is_costly() const override { return true; }

 private:
  void take_block() {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t at = offset_;
    int code = ARCHIVE_RETRY;
    while (code == ARCHIVE_RETRY) code = archive_read_data_block(archive_, &data, &size, &at);
    ended_ = code == ARCHIVE_EOF;
    // A warning (a checksum that is wrong) comes with the last block.
    if (code < ARCHIVE_OK) error_ = error_of_(offset_);
    if (code < ARCHIVE_WARN || ended_) return;
    hole_ = std::max<std::int64_t>(at - offset_, 0);
    block_ = {static_cast<const char*>(data), size};
    offset_ = at + static_cast<std::int64_t>(size);
  }

  archive* archive_;
  ErrorOf error_of_;
  std::string_view block_;   // not delivered yet
  std::int64_t hole_ = 0;    // zeros to deliver before it
  std::int64_t offset_ = 0;  // behind block_
  bool ended_ = false;
  std::optional<Error> error_;
};

// A compressed file seen as an archive of one nameless member.
class FilterSource final : public ByteSource {
 public:
  explicit FilterSource(std::unique_ptr<ByteSource> inner)
      : reader_(std::move(inner), /*raw=*/true) {}

  Result<std::size_t> read(char* to, std::size_t size) override {
    if (!content_) {
      auto found = reader_.next();
      if (!found) return fail(found.error());
      if (!*found) return std::size_t{0};
      content_ = reader_.content();
    }
    return content_->read(to, size);
  }
  bool is_costly() const override { return true; }
  void collect_remarks(std::vector<std::string>& out) const override {
    reader_.collect_remarks(out);
  }

 private:
  LibarchiveReader reader_;
  std::unique_ptr<ByteSource> content_;
};

}  // namespace

LibarchiveReader::LibarchiveReader(std::unique_ptr<ByteSource> source, bool raw) : impl_(new Impl) {
  impl_->source = std::move(source);
  impl_->raw = raw;
}

LibarchiveReader::~LibarchiveReader() = default;

Result<bool> LibarchiveReader::next() {
  if (!impl_->opened && !impl_->open()) return fail(impl_->error());
  archive_entry* entry = nullptr;
  while (true) {
    const int code = archive_read_next_header(impl_->handle.get(), &entry);
    if (code == ARCHIVE_EOF) return false;
    if (code == ARCHIVE_RETRY) continue;
    if (code < ARCHIVE_WARN) return fail(impl_->error());
    if (impl_->raw || archive_entry_filetype(entry) == AE_IFREG) break;
  }
  const char* path = archive_entry_pathname(entry);
  name_ = path ? path : "";
  return true;
}

std::unique_ptr<ByteSource> LibarchiveReader::content() {
  return std::make_unique<MemberSource>(
      impl_->handle.get(), [this](std::int64_t offset) { return impl_->error(offset); });
}

void LibarchiveReader::collect_remarks(std::vector<std::string>& out) const {
  impl_->source->collect_remarks(out);
}

std::unique_ptr<ByteSource> decompress_other(std::unique_ptr<ByteSource> inner) {
  return std::make_unique<FilterSource>(std::move(inner));
}

}  // namespace pyrometer::base
