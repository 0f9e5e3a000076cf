#include "sources/procfs/proc_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace pyrometer::sources {
namespace {
constexpr std::size_t kFirstBuffer = 16384;
constexpr std::size_t kLargest = 1 << 20;
}  // namespace

ProcReader::ProcReader(std::string root) : root_(std::move(root)), buffer_(kFirstBuffer) {}

std::optional<std::string_view> ProcReader::read(std::string_view path) {
  path_.assign(root_).append(path);
  const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    error_ = errno;
    return std::nullopt;
  }
  std::size_t size = 0;
  while (true) {
    const ssize_t got = ::read(file, buffer_.data() + size, buffer_.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      error_ = got < 0 ? errno : 0;
      break;
    }
    size += static_cast<std::size_t>(got);
    if (size < buffer_.size()) continue;
    if (size >= kLargest) break;
    buffer_.resize(buffer_.size() * 2);
  }
  close(file);
  if (error_ != 0 && size == 0) return std::nullopt;
  error_ = 0;
  return std::string_view(buffer_.data(), size);
}

Gap ProcReader::gap() const {
  switch (error_) {
    case ENOENT:
    case ENOTDIR:
    case EOPNOTSUPP:
    case ENODEV:
      return {Absence::kNotSupported, "the kernel does not provide it here"};
    case EACCES:
    case EPERM:
      return {Absence::kNoPermission, {}};
    case ESRCH:
      return {Absence::kNotAvailable, "the process has ended"};
    case EMFILE:
    case ENFILE:
      return {Absence::kFailed, "too many open files"};
    default:
      return {Absence::kFailed, "the file could not be read"};
  }
}

std::optional<std::uint64_t> ProcReader::read_number(std::string_view path) {
  const auto text = read(path);
  return text ? to_number(trim(*text)) : std::nullopt;
}

std::optional<std::uint64_t> count_list(std::string_view list) {
  list = trim(list);
  std::uint64_t count = 0;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view range = list.substr(0, comma);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    const std::size_t dash = range.find('-');
    const auto first = to_number(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : to_number(range.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    count += *last - *first + 1;
  }
  return count;
}

}  // namespace pyrometer::sources
