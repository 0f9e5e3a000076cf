#include "base/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pyrometer::base {
namespace {

Error system_error(const std::string& what, const std::string& path) {
  const int code = errno;
  Error error;
  error.file = path;
  error.message = what + ": " + std::strerror(code);
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      error.kind = ErrorKind::kNotFound;
      error.message = "no such file";
      error.advice = "Check the path";
      break;
    case EACCES:
    case EPERM:
      error.kind = ErrorKind::kPermission;
      error.message = "no permission to read it";
      error.advice = "Run as a user who may read the file, or change its mode";
      break;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      error.kind = ErrorKind::kResource;
      break;
    default:
      error.kind = ErrorKind::kIo;
  }
  return error;
}

class FileSource final : public ByteSource {
 public:
  FileSource(int fd, bool owned, std::string path, std::int64_t size)
      : fd_(fd), owned_(owned), path_(std::move(path)), size_(size) {}
  ~FileSource() override {
    if (owned_) ::close(fd_);
  }

  Result<std::size_t> read(char* to, std::size_t size) override {
    while (true) {
      const ssize_t got = ::read(fd_, to, size);
      if (got >= 0) {
        offset_ += got;
        return static_cast<std::size_t>(got);
      }
      if (errno == EINTR) continue;
      Error error = system_error("reading failed", path_);
      error.offset = offset_;
      return fail(std::move(error));
    }
  }
  std::int64_t size_hint() const override { return size_; }
  std::int64_t seek(std::int64_t offset, int whence) override {
    if (size_ < 0) return -1;  // a pipe
    const off_t place = ::lseek(fd_, offset, whence);
    if (place >= 0) offset_ = place;
    return place;
  }

 private:
  int fd_;
  bool owned_;
  std::string path_;
  std::int64_t size_;
  std::int64_t offset_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(char* to, std::size_t size) override {
    const std::size_t count = std::min(size, text_.size() - taken_);
    std::memcpy(to, text_.data() + taken_, count);
    taken_ += count;
    return count;
  }
  std::int64_t size_hint() const override { return static_cast<std::int64_t>(text_.size()); }

 private:
  std::string text_;
  std::size_t taken_ = 0;
};

class FailingSource final : public ByteSource {
 public:
  explicit FailingSource(Error error) : error_(std::move(error)) {}
  Result<std::size_t> read(char* /*to*/, std::size_t /*size*/) override { return fail(error_); }

 private:
  Error error_;
};

}  // namespace

Result<std::size_t> read_fully(ByteSource& source, char* to, std::size_t size) {
  std::size_t have = 0;
  while (have < size) {
    auto got = source.read(to + have, size - have);
    if (!got) {
      if (have > 0) break;  // the next call reports it
      return got;
    }
    if (*got == 0) break;
    have += *got;
  }
  return have;
}

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  if (path == "-") return std::make_unique<FileSource>(STDIN_FILENO, false, "<stdin>", -1);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(system_error("cannot open", path));
  struct stat status {};
  if (::fstat(fd, &status) != 0) {
    Error error = system_error("cannot examine", path);
    ::close(fd);
    return fail(std::move(error));
  }
  if (S_ISDIR(status.st_mode)) {
    ::close(fd);
    return fail({.kind = ErrorKind::kUsage, .message = "it is a folder", .file = path});
  }
  const bool regular = S_ISREG(status.st_mode);
  if (regular) (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  return std::make_unique<FileSource>(fd, true, path, regular ? status.st_size : -1);
}

std::unique_ptr<ByteSource> memory_source(std::string text) {
  return std::make_unique<MemorySource>(std::move(text));
}

std::unique_ptr<ByteSource> failing_source(Error error) {
  return std::make_unique<FailingSource>(std::move(error));
}

Result<std::string_view> PeekSource::peek(std::size_t size) {
  if (head_.size() < size) {
    const std::size_t have = head_.size();
    head_.resize(size);
    auto got = read_fully(*inner_, head_.data() + have, size - have);
    head_.resize(have + got.value_or(0));
    if (!got && head_.empty()) return fail(got.error());
  }
  return std::string_view(head_).substr(0, size);
}

Result<std::size_t> PeekSource::read(char* to, std::size_t size) {
  if (taken_ < head_.size()) {
    const std::size_t count = std::min(size, head_.size() - taken_);
    std::memcpy(to, head_.data() + taken_, count);
    taken_ += count;
    return count;
  }
  return inner_->read(to, size);
}

std::int64_t PeekSource::seek(std::int64_t offset, int whence) {
  // A relative move counts from what the caller has read, not from what was peeked.
  if (whence == SEEK_CUR) offset -= static_cast<std::int64_t>(head_.size() - taken_);
  const std::int64_t place = inner_->seek(offset, whence);
  if (place >= 0) taken_ = head_.size();
  return place;
}

}  // namespace pyrometer::base
