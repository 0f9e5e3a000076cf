// HTTP/2 as RFC 9113 has it, as far as one call needs it. Header fields of the answer are not
// decoded: whether a whole message came tells what has to be known.
#include "sources/kube/grpc_call.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace pyrometer::sources::kube {
namespace {

using base::ErrorKind;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kMostBytes = 16U << 20;  // of an answer; also what we let the server send
constexpr std::size_t kFrameHeader = 9;
constexpr std::size_t kMostFrame = 16384;  // as long as nobody asks for more
constexpr std::size_t kMessageHeader = 5;

enum FrameType : std::uint8_t {
  kData = 0,
  kHeaders = 1,
  kReset = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kWindowUpdate = 8,
};
enum FrameFlags : std::uint8_t { kEndStream = 1, kAck = 1, kEndHeaders = 4, kPadded = 8 };

struct Frame {
  std::uint8_t type = 0, flags = 0;
  std::uint32_t stream = 0;
  std::string payload;
};

void append_number(std::string& out, std::uint64_t number, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(number >> (8 * i) & 0xFF);
}

std::uint32_t number_at(std::string_view bytes, std::size_t at, int count) {
  std::uint32_t number = 0;
  for (int i = 0; i < count; ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  }
  return number;
}

std::string frame(FrameType type, int flags, std::uint32_t stream, std::string_view payload) {
  std::string out;
  append_number(out, payload.size(), 3);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  append_number(out, stream, 4);
  return out.append(payload);
}

// A header field in plain letters that no table remembers.
void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += '\0';
  out += static_cast<char>(name.size());
  out.append(name);
  out += static_cast<char>(value.size());
  out.append(value);
}

base::Error error_of(ErrorKind kind, std::string message, const std::string& socket) {
  return {.kind = kind, .message = std::move(message), .file = socket};
}

class Connection {
 public:
  Connection(std::string socket, std::chrono::milliseconds patience)
      : socket_(std::move(socket)), deadline_(Clock::now() + patience) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (file_ >= 0) close(file_);
  }

  base::Result<void> open();
  base::Result<void> send(std::string_view bytes);
  base::Result<Frame> receive();

 private:
  base::Result<void> wait(short events);
  base::Result<std::string> take(std::size_t size);

  std::string socket_;
  Clock::time_point deadline_;
  int file_ = -1;
};

base::Result<void> Connection::open() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof address.sun_path) {
    return base::fail(error_of(ErrorKind::kNotFound, "the path is too long for a socket", socket_));
  }
  std::memcpy(address.sun_path, socket_.c_str(), socket_.size() + 1);
  file_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (file_ < 0 ||
      connect(file_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int problem = errno;
    const ErrorKind kind = problem == ENOENT                       ? ErrorKind::kNotFound
                           : problem == EACCES || problem == EPERM ? ErrorKind::kPermission
                                                                   : ErrorKind::kIo;
    return base::fail(error_of(kind, std::strerror(problem), socket_));
  }
  return {};
}

base::Result<void> Connection::wait(short events) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    pollfd watched{.fd = file_, .events = events, .revents = 0};
    const int ready = left <= 0 ? 0 : poll(&watched, 1, static_cast<int>(left));
    if (ready > 0) return {};
    if (ready < 0 && errno == EINTR) continue;
    return base::fail(error_of(ErrorKind::kIo, "no answer in time", socket_));
  }
}

base::Result<void> Connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (auto ready = wait(POLLOUT); !ready) return ready;
    } else if (errno != EINTR) {
      return base::fail(error_of(ErrorKind::kIo, std::strerror(errno), socket_));
    }
  }
  return {};
}

base::Result<std::string> Connection::take(std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t at = 0;
  while (at < size) {
    const ssize_t got = recv(file_, bytes.data() + at, size - at, 0);
    if (got > 0) {
      at += static_cast<std::size_t>(got);
    } else if (got == 0) {
      return base::fail(error_of(ErrorKind::kIo, "the server hung up", socket_));
    } else if (errno == EAGAIN) {
      if (auto ready = wait(POLLIN); !ready) return base::fail(ready.error());
    } else if (errno != EINTR) {
      return base::fail(error_of(ErrorKind::kIo, std::strerror(errno), socket_));
    }
  }
  return bytes;
}

base::Result<Frame> Connection::receive() {
  const auto header = take(kFrameHeader);
  if (!header) return base::fail(header.error());
  const std::size_t size = number_at(*header, 0, 3);
  if (size > kMostFrame) {
    return base::fail(error_of(ErrorKind::kFormat, "the answer is no HTTP/2", socket_));
  }
  Frame got{.type = static_cast<std::uint8_t>((*header)[3]),
            .flags = static_cast<std::uint8_t>((*header)[4]),
            .stream = number_at(*header, 5, 4) & 0x7FFFFFFF};
  auto payload = take(size);
  if (!payload) return base::fail(payload.error());
  got.payload = std::move(*payload);
  return got;
}

std::string whole_request(std::string_view method, std::string_view request) {
  std::string out = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  std::string settings;
  append_number(settings, 2, 2);  // nothing may be pushed
  append_number(settings, 0, 4);
  append_number(settings, 4, 2);  // bytes that the server may send unasked, per stream …
  append_number(settings, kMostBytes, 4);
  out += frame(kSettings, 0, 0, settings);
  std::string window;
  append_number(window, kMostBytes, 4);
  out += frame(kWindowUpdate, 0, 0, window);  // … and in all
  std::string fields;
  append_field(fields, ":method", "POST");
  append_field(fields, ":scheme", "http");
  append_field(fields, ":path", method);
  append_field(fields, ":authority", "localhost");
  append_field(fields, "content-type", "application/grpc");
  append_field(fields, "te", "trailers");
  out += frame(kHeaders, kEndHeaders, 1, fields);
  std::string message(1, '\0');  // not compressed
  append_number(message, request.size(), 4);
  out += frame(kData, kEndStream, 1, message.append(request));
  return out;
}

// The content of a data frame without its padding; nothing where it is malformed.
std::optional<std::string_view> content_of(const Frame& got) {
  std::string_view content = got.payload;
  if ((got.flags & kPadded) == 0) return content;
  if (content.empty()) return std::nullopt;
  const std::size_t padding = static_cast<unsigned char>(content[0]);
  content.remove_prefix(1);
  if (padding > content.size()) return std::nullopt;
  content.remove_suffix(padding);
  return content;
}

// What the server expects of us in between. True where the stream has ended.
base::Result<bool> handle(const Frame& got, Connection& connection, std::string& body,
                          const std::string& socket) {
  const bool is_ours = got.stream == 1;
  if (got.type == kSettings && (got.flags & kAck) == 0) {
    if (auto sent = connection.send(frame(kSettings, kAck, 0, {})); !sent) {
      return base::fail(sent.error());
    }
  } else if (got.type == kPing && (got.flags & kAck) == 0) {
    if (auto sent = connection.send(frame(kPing, kAck, 0, got.payload)); !sent) {
      return base::fail(sent.error());
    }
  } else if (got.type == kData && is_ours) {
    const auto content = content_of(got);
    if (!content || body.size() + content->size() > kMostBytes) {
      return base::fail(error_of(ErrorKind::kFormat, "the answer is too long, or damaged", socket));
    }
    body.append(*content);
  } else if (got.type == kGoAway || (got.type == kReset && is_ours)) {
    return base::fail(error_of(ErrorKind::kIo, "the server refused the call", socket));
  }
  const bool ends = got.type == kData || got.type == kHeaders;
  return ends && is_ours && (got.flags & kEndStream) != 0;
}

}  // namespace

base::Result<std::string> grpc_call(const std::string& socket, std::string_view method,
                                    std::string_view request, std::chrono::milliseconds patience) {
  constexpr std::size_t kMostField = 126;  // longer ones are written otherwise
  if (method.size() > kMostField || request.size() > kMostFrame - kMessageHeader) {
    return base::fail(error_of(ErrorKind::kUsage, "the request is too long", socket));
  }
  Connection connection(socket, patience);
  if (auto opened = connection.open(); !opened) return base::fail(opened.error());
  if (auto sent = connection.send(whole_request(method, request)); !sent) {
    return base::fail(sent.error());
  }
  std::string body;
  while (true) {
    const auto got = connection.receive();
    if (!got) return base::fail(got.error());
    const auto ended = handle(*got, connection, body, socket);
    if (!ended) return base::fail(ended.error());
    if (*ended) break;
  }
  // An error comes without a message.
  if (body.empty()) {
    return base::fail(error_of(ErrorKind::kIo, "the server answered with an error", socket));
  }
  if (body.size() < kMessageHeader || body[0] != '\0' ||
      number_at(body, 1, 4) != body.size() - kMessageHeader) {
    return base::fail(error_of(ErrorKind::kFormat, "the answer is no single gRPC message", socket));
  }
  return body.substr(kMessageHeader);
}

}  // namespace pyrometer::sources::kube
