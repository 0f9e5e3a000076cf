#include "server/access.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace pyrometer::server {
namespace {

constexpr std::size_t kShortestToken = 16;
constexpr std::size_t kLongestToken = 4096;

base::Error token_error(const std::string& path, base::ErrorKind kind, std::string message,
                        std::string advice = {}) {
  return {.kind = kind, .message = std::move(message), .file = path, .advice = std::move(advice)};
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

base::Result<std::string> read_token(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const int why = errno;
    return base::fail(
        token_error(path, why == ENOENT ? base::ErrorKind::kNotFound : base::ErrorKind::kPermission,
                    std::string("cannot read the token: ") + std::strerror(why)));
  }
  struct stat status {};
  ::fstat(fd, &status);
  std::array<char, kLongestToken + 2> buffer{};
  const ssize_t size = ::read(fd, buffer.data(), buffer.size());
  ::close(fd);
  if (!S_ISREG(status.st_mode) || size < 0) {
    return base::fail(token_error(path, base::ErrorKind::kFormat, "is no file with a token"));
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return base::fail(token_error(path, base::ErrorKind::kPermission,
                                  "others than its owner may read or change the token",
                                  "chmod 600 " + path));
  }
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return base::fail(
        token_error(path, base::ErrorKind::kPermission, "the token belongs to another user"));
  }
  std::string_view token(buffer.data(), static_cast<std::size_t>(size));
  token = token.substr(0, token.find_first_of("\r\n"));
  const bool is_visible = std::ranges::all_of(token, [](char c) { return c > 0x20 && c < 0x7F; });
  if (token.size() < kShortestToken || token.size() > kLongestToken || !is_visible) {
    return base::fail(token_error(path, base::ErrorKind::kFormat,
                                  "the first line is no token of 16 to 4096 visible characters",
                                  "head -c 32 /dev/urandom | base64 > " + path));
  }
  return std::string(token);
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  // The length of a token is no secret.
  if (a.size() != b.size()) return false;
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<unsigned char>(
        difference | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  }
  return difference == 0;
}

bool is_authorized(const Request& request, std::string_view token) {
  std::string_view given = request.header("authorization");
  constexpr std::string_view kBearer = "bearer ";
  const bool is_bearer = given.size() > kBearer.size() &&
                         std::equal(kBearer.begin(), kBearer.end(), given.begin(),
                                    [](char wanted, char c) { return wanted == lower(c); });
  if (!is_bearer) return false;
  given.remove_prefix(kBearer.size());
  while (given.starts_with(' ')) given.remove_prefix(1);
  return equal_in_constant_time(given, token);
}

bool is_loopback_host(std::string_view host) {
  if (host.empty()) return true;  // HTTP/1.0: no browser
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end != std::string_view::npos && host.substr(1, end - 1) == "::1";
  }
  std::string name(host.substr(0, host.find(':')));
  std::ranges::transform(name, name.begin(), [](char c) { return lower(c); });
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  // 127.x.y.z and nothing else that begins so.
  return name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string::npos;
}

}  // namespace pyrometer::server
