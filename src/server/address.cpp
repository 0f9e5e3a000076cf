#include "server/address.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "server/port_holder.h"

namespace pyrometer::server {
namespace {

constexpr int kBacklog = 64;
constexpr std::string_view kUnix = "unix:";

base::Error failed(const Address& address, int why, std::string more = {}) {
  const bool is_denied = why == EACCES || why == EPERM;
  const bool is_taken = why == EADDRINUSE;
  std::string message = "cannot listen on " + address.text() + ": ";
  message += is_taken ? "the address is taken" + std::move(more) : std::strerror(why);
  std::string advice;
  if (is_taken) advice = "Give another one with --listen, or end the program that has it";
  if (is_denied) advice = "Ports below 1024 need root or CAP_NET_BIND_SERVICE";
  return {.kind = is_denied ? base::ErrorKind::kPermission : base::ErrorKind::kResource,
          .message = std::move(message),
          .advice = std::move(advice)};
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return (ntohl(v4->sin_addr.s_addr) >> 24U) == 127;
  }
  if (address->sa_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
  }
  return false;
}

std::uint16_t bound_port(int fd) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
  return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&own)->sin6_port
                                         : reinterpret_cast<sockaddr_in*>(&own)->sin_port);
}

// Whether nobody listens at a socket's file that is there.
bool is_left_behind(const sockaddr_un& name) {
  struct stat status {};
  if (::lstat(name.sun_path, &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  const int result = ::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name);
  const bool is_dead = result != 0 && errno == ECONNREFUSED;
  ::close(fd);
  return is_dead;
}

base::Result<int> listen_unix(const Address& address) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, address.path.data(), address.path.size());
  if (is_left_behind(name)) ::unlink(name.sun_path);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return base::fail(failed(address, errno));
  // Its owner and group alone: who else may come in is up to the folder's permissions.
  const mode_t before = ::umask(0117);
  const int bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name);
  const int why = errno;
  ::umask(before);
  if (bound != 0 || ::listen(fd, kBacklog) != 0) {
    const int reason = bound != 0 ? why : errno;
    ::close(fd);
    return base::fail(failed(address, reason));
  }
  return fd;
}

}  // namespace

std::string Address::text() const {
  if (!path.empty()) return std::string(kUnix) + path;
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string parse_address(std::string_view text, Address& address) {
  address = {};
  if (text.starts_with(kUnix)) {
    address.path = text.substr(kUnix.size());
    constexpr std::size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
    if (address.path.empty()) return "names no socket: write unix:PATH";
    if (address.path.size() > kLongest) {
      return "is too long for a socket: at most " + std::to_string(kLongest) + " bytes";
    }
    return {};
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return "has no port: write HOST:PORT or unix:PATH";
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  unsigned port = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (problem != std::errc{} || end != digits.data() + digits.size() ||
      port > std::numeric_limits<std::uint16_t>::max()) {
    return "has no port from 0 to 65535: write HOST:PORT or unix:PATH";
  }
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return "is ambiguous: write an IPv6 address in brackets, as [::1]:9400";
  }
  address.host = host.empty() ? "0.0.0.0" : host;
  address.port = static_cast<std::uint16_t>(port);
  return {};
}

base::Result<Listener> Listener::open(const Address& address) {
  if (!address.path.empty()) {
    const auto fd = listen_unix(address);
    if (!fd) return base::fail(fd.error());
    return Listener(*fd, address, true);
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int result =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (result != 0) {
    return base::fail(
        {.kind = base::ErrorKind::kNotFound,
         .message = "cannot listen on " + address.text() + ": " + ::gai_strerror(result)});
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  int why = EADDRNOTAVAIL;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int fd = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) continue;
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(fd, at->ai_addr, at->ai_addrlen) == 0 && ::listen(fd, kBacklog) == 0) {
      Address own = address;
      own.port = bound_port(fd);
      return Listener(fd, std::move(own), is_loopback(at->ai_addr));
    }
    why = errno;
    ::close(fd);
  }
  return base::fail(failed(address, why, why == EADDRINUSE ? holder_text(address.port) : ""));
}

Listener::Listener(Listener&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      address_(std::move(other.address_)),
      is_local_(other.is_local_) {}

Listener& Listener::operator=(Listener&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(address_, other.address_);
  std::swap(is_local_, other.is_local_);
  return *this;
}

Listener::~Listener() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (!address_.path.empty()) ::unlink(address_.path.c_str());
}

}  // namespace pyrometer::server
