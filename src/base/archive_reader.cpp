#include "base/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

namespace pyrometer::base {
namespace {

constexpr std::size_t kInputBytes = 128 * 1024;
constexpr std::size_t kTarMagicOffset = 257;

struct CloseArchive {
  void operator()(archive* a) const { archive_read_free(a); }
};

}  // namespace

struct ArchiveReader::Impl {
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

  [[nodiscard]] Error error() const {
    if (source_error) return *source_error;
    Error e;
    e.kind = ErrorKind::kFormat;
    const char* why = handle ? archive_error_string(handle.get()) : nullptr;
    e.message = std::string("the archive is damaged or ends early: ") + (why ? why : "unknown");
    e.advice = "Copy the file again from where it was recorded";
    return e;
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
      archive_read_support_format_tar(a);
      archive_read_support_format_zip(a);
      archive_read_support_format_7zip(a);
    }
    archive_read_set_read_callback(a, read_block);
    archive_read_set_seek_callback(a, seek_block);
    archive_read_set_callback_data(a, this);
    return archive_read_open1(a) == ARCHIVE_OK;
  }
};

namespace {

class MemberSource final : public ByteSource {
 public:
  explicit MemberSource(archive* a) : archive_(a) {}

  Result<std::size_t> read(char* to, std::size_t size) override {
    if (error_) return fail(*error_);
    la_ssize_t got = ARCHIVE_RETRY;
    while (got == ARCHIVE_RETRY) got = archive_read_data(archive_, to, size);
    if (got >= 0) {
      offset_ += got;
      return static_cast<std::size_t>(got);
    }
    const char* why = archive_error_string(archive_);
    error_.emplace();
    error_->kind = ErrorKind::kFormat;
    error_->message =
        std::string("the archive is damaged or ends early: ") + (why ? why : "unknown");
    error_->offset = offset_;
    error_->advice = "Copy the file again from where it was recorded";
    return fail(*error_);
  }
  bool is_costly() const override { return true; }

 private:
  archive* archive_;
  std::int64_t offset_ = 0;
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

 private:
  ArchiveReader reader_;
  std::unique_ptr<ByteSource> content_;
};

}  // namespace

ArchiveReader::ArchiveReader(std::unique_ptr<ByteSource> source, bool raw) : impl_(new Impl) {
  impl_->source = std::move(source);
  impl_->raw = raw;
}

ArchiveReader::~ArchiveReader() = default;

Result<bool> ArchiveReader::next() {
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

std::unique_ptr<ByteSource> ArchiveReader::content() {
  return std::make_unique<MemberSource>(impl_->handle.get());
}

bool looks_like_archive(std::string_view head) {
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return true;
  if (head.starts_with("7z\xBC\xAF\x27\x1C")) return true;
  return head.size() > kTarMagicOffset && head.substr(kTarMagicOffset).starts_with("ustar");
}

bool looks_like_other_compression(std::string_view head) {
  return head.starts_with(
             "\xFD"
             "7zXZ") ||
         head.starts_with("BZh") || head.starts_with("\x04\x22\x4D\x18");
}

std::unique_ptr<ByteSource> decompress_other(std::unique_ptr<ByteSource> inner) {
  return std::make_unique<FilterSource>(std::move(inner));
}

}  // namespace pyrometer::base
