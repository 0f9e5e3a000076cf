#include "server/http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <limits>
#include <utility>

#include "sources/source.h"

namespace pyrometer::server {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kAcceptPause = 1'000'000'000;
constexpr std::int64_t kLinger = 1'000'000'000;
constexpr std::int64_t kMillisecond = 1'000'000;

enum class Phase : std::uint8_t {
  kHandshake,
  kReading,
  kWriting,
  kStreaming,
  kLingering,  // all is said; waits until the client has taken it
};

}  // namespace

struct HttpServer::Connection {
  int fd = -1;
  std::size_t listener = 0;
  std::unique_ptr<Channel> channel;
  Phase phase = Phase::kHandshake;
  std::string in;
  std::deque<std::shared_ptr<const std::string>> out;
  std::size_t out_at = 0;  // of the first piece: written
  std::size_t out_bytes = 0;
  bool keep_alive = false;
  bool wants_write = false;  // of TLS, while reading
  bool is_closed = false;
  StreamKind stream = StreamKind::kNone;
  bool is_chunked = true;
  std::int64_t deadline = kNever;
  std::int64_t idle_since = 0;
  std::uint32_t interest = 0;

  void put(std::shared_ptr<const std::string> piece) {
    if (piece->empty()) return;
    out_bytes += piece->size();
    out.push_back(std::move(piece));
  }
  // Has asked nothing that is unanswered.
  [[nodiscard]] bool is_idle() const {
    return phase == Phase::kHandshake || (phase == Phase::kReading && in.empty());
  }
};

struct HttpServer::Watched {
  int fd;
  std::function<void()> react;
};

HttpServer::HttpServer(std::vector<Listener> listeners, const Tls* tls, HttpLimits limits,
                       Handler handler)
    : listeners_(std::move(listeners)), tls_(tls), limits_(limits), handler_(std::move(handler)) {}

HttpServer::~HttpServer() {
  for (const auto& connection : connections_) ::close(connection->fd);
  if (poll_ >= 0) ::close(poll_);
}

// What epoll gives back: listeners and watched files by number, connections by address.
base::Result<void> HttpServer::prepare() {
  poll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (poll_ < 0) {
    return base::fail({.kind = base::ErrorKind::kResource,
                       .message = std::string("cannot serve: ") + std::strerror(errno)});
  }
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
    ::epoll_ctl(poll_, EPOLL_CTL_ADD, listeners_[i].fd(), &event);
  }
  return {};
}

void HttpServer::watch(int fd, std::function<void()> react) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = listeners_.size() + watched_.size()}};
  ::epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event);
  watched_.push_back({fd, std::move(react)});
}

HttpCounts HttpServer::counts() const {
  HttpCounts counts = counts_;
  counts.connections = open_connections();
  counts.streams = static_cast<std::size_t>(std::ranges::count_if(
      connections_, [](const auto& c) { return c->phase == Phase::kStreaming; }));
  return counts;
}

void HttpServer::set_accepting(bool on) {
  is_accepting_ = on;
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    epoll_event event{.events = on ? static_cast<std::uint32_t>(EPOLLIN) : 0U, .data = {.u64 = i}};
    ::epoll_ctl(poll_, EPOLL_CTL_MOD, listeners_[i].fd(), &event);
  }
}

int HttpServer::patience(std::int64_t now) const {
  std::int64_t next = is_accepting_ ? kNever : accept_again_;
  for (const auto& connection : connections_) next = std::min(next, connection->deadline);
  if (next == kNever) return -1;
  constexpr std::int64_t kLongest = 60'000;
  return static_cast<int>(std::clamp<std::int64_t>((next - now) / kMillisecond + 1, 0, kLongest));
}

void HttpServer::run() {
  std::array<epoll_event, 64> events{};
  while (!is_stopping_) {
    const int count = ::epoll_wait(poll_, events.data(), static_cast<int>(events.size()),
                                   patience(sources::monotonic_ns()));
    if (count < 0 && errno != EINTR) return;
    for (int i = 0; i < count && !is_stopping_; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      const std::uint64_t number = event.data.u64;
      if (number < listeners_.size()) {
        accept_from(static_cast<std::size_t>(number));
      } else if (number < listeners_.size() + watched_.size()) {
        watched_[static_cast<std::size_t>(number) - listeners_.size()].react();
      } else {
        auto* connection = static_cast<Connection*>(event.data.ptr);
        // May have been closed by what was done for another one.
        if (!connection->is_closed) serve(*connection, event.events);
      }
    }
    const std::int64_t now = sources::monotonic_ns();
    if (!is_accepting_ && now >= accept_again_) set_accepting(true);
    drop_the_slow(now);
    // Only here, where no event refers to them any more.
    std::erase_if(connections_, [](const auto& connection) { return connection->is_closed; });
  }
}

std::size_t HttpServer::open_connections() const {
  return static_cast<std::size_t>(std::ranges::count_if(connections_, [](const auto& one) {
    return !one->is_closed && one->phase != Phase::kLingering;
  }));
}

// The connection that has been idle for longest gives way.
void HttpServer::make_room() {
  if (open_connections() < limits_.connections) return;
  Connection* oldest = nullptr;
  for (const auto& connection : connections_) {
    if (connection->is_closed || !connection->is_idle()) continue;
    if (oldest == nullptr || connection->idle_since < oldest->idle_since) {
      oldest = connection.get();
    }
  }
  if (oldest != nullptr) close(*oldest);
}

void HttpServer::accept_from(std::size_t listener) {
  constexpr int kAtOnce = 16;
  for (int i = 0; i < kAtOnce; ++i) {
    const int fd =
        ::accept4(listeners_[listener].fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      // Out of files: the waiting client would wake the loop again and again.
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        accept_again_ = sources::monotonic_ns() + kAcceptPause;
        set_accepting(false);
      }
      return;
    }
    const bool is_plain = tls_ == nullptr || !listeners_[listener].address().path.empty();
    make_room();
    auto connection = std::make_unique<Connection>();
    connection->channel = is_plain ? plain_channel(fd) : tls_->channel(fd);
    const bool has_room = open_connections() < limits_.connections;
    // Those that are sent away take room, too, until they have gone.
    const bool may_be_told = is_plain && connections_.size() < 2 * limits_.connections;
    if (!has_room) ++counts_.refused;
    if (connection->channel == nullptr || (!has_room && !may_be_told)) {
      ::close(fd);
      continue;
    }
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connection->fd = fd;
    connection->listener = listener;
    connection->idle_since = sources::monotonic_ns();
    connection->deadline = connection->idle_since + limits_.request.count();
    epoll_event event{.events = EPOLLIN, .data = {.ptr = connection.get()}};
    connection->interest = EPOLLIN;
    ::epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event);
    Connection& added = *connections_.emplace_back(std::move(connection));
    if (has_room) continue;
    added.put(std::make_shared<const std::string>(
        render_response({}, error_response(503, "too many connections"), false)));
    added.phase = Phase::kWriting;
    write_to(added);
    listen_for(added);
  }
}

void HttpServer::close(Connection& connection) {
  if (connection.is_closed) return;
  connection.is_closed = true;
  connection.channel->shut_down();
  ::epoll_ctl(poll_, EPOLL_CTL_DEL, connection.fd, nullptr);
  ::close(connection.fd);
  connection.fd = -1;
}

void HttpServer::listen_for(Connection& connection) {
  if (connection.is_closed) return;
  std::uint32_t wanted = EPOLLIN;
  if (connection.phase == Phase::kWriting) wanted = EPOLLOUT;
  if (connection.phase == Phase::kStreaming) {
    wanted = EPOLLIN | EPOLLRDHUP | (connection.out.empty() ? 0U : EPOLLOUT);
  }
  if (connection.wants_write) wanted |= EPOLLOUT;
  if (wanted == connection.interest) return;
  connection.interest = wanted;
  epoll_event event{.events = wanted, .data = {.ptr = &connection}};
  ::epoll_ctl(poll_, EPOLL_CTL_MOD, connection.fd, &event);
}

// A socket that is closed with unread bytes resets the connection, and the answer may be lost with
// it: so what the client still sends is taken until it has closed its side.
void HttpServer::linger(Connection& connection) {
  connection.channel->shut_down();
  ::shutdown(connection.fd, SHUT_WR);
  connection.phase = Phase::kLingering;
  connection.in.clear();
  connection.deadline = sources::monotonic_ns() + kLinger;
}

void HttpServer::serve(Connection& connection, std::uint32_t ready) {
  if (connection.phase == Phase::kLingering) {
    std::array<char, 8192> ignored{};
    const ssize_t size = ::recv(connection.fd, ignored.data(), ignored.size(), MSG_DONTWAIT);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) close(connection);
    return;
  }
  if (connection.phase == Phase::kHandshake) {
    const IoResult result = connection.channel->handshake();
    connection.wants_write = result.state == IoState::kWantWrite;
    if (result.state == IoState::kClosed) close(connection);
    if (result.state != IoState::kDone) return listen_for(connection);
    connection.phase = Phase::kReading;
  }
  if (connection.phase == Phase::kReading) read_from(connection);
  if (connection.is_closed) return;
  if (connection.phase == Phase::kStreaming && (ready & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)) != 0) {
    // Nothing more is expected of a reader: it leaves, or it says what nobody will hear.
    std::array<char, 1024> ignored{};
    if (connection.channel->read(ignored.data(), ignored.size()).state == IoState::kClosed) {
      return close(connection);
    }
  }
  if (!connection.out.empty()) write_to(connection);
  listen_for(connection);
}

void HttpServer::read_from(Connection& connection) {
  std::array<char, 8192> buffer{};
  const bool was_idle = connection.in.empty();
  while (connection.in.size() < kMostRequestBytes) {
    const IoResult result = connection.channel->read(buffer.data(), buffer.size());
    connection.wants_write = result.state == IoState::kWantWrite;
    if (result.state == IoState::kClosed) return close(connection);
    if (result.state != IoState::kDone) break;
    connection.in.append(buffer.data(), result.bytes);
    if (result.bytes < buffer.size() && !connection.channel->has_pending()) break;
  }
  if (was_idle && !connection.in.empty()) {
    connection.deadline = sources::monotonic_ns() + limits_.request.count();
  }
  answer(connection);
}

void HttpServer::answer(Connection& connection) {
  if (connection.in.empty()) return;
  const ParsedRequest parsed = parse_request(connection.in);
  if (parsed.state == ParsedRequest::State::kIncomplete) return;
  Response response;
  if (parsed.state == ParsedRequest::State::kRefused) {
    ++counts_.refused;
    response = error_response(parsed.status, reason_phrase(parsed.status));
    connection.keep_alive = false;
    connection.in.clear();
  } else {
    ++counts_.requests;
    connection.in.erase(0, parsed.bytes);
    connection.keep_alive = parsed.request.keeps_alive();
    response = handler_(parsed.request, listeners_[connection.listener]);
    if (response.stream != StreamKind::kNone && counts().streams >= limits_.streams) {
      ++counts_.refused;
      response = error_response(503, "too many streams");
    }
  }
  const bool is_stream = response.stream != StreamKind::kNone && parsed.request.method != "HEAD";
  connection.stream = is_stream ? response.stream : StreamKind::kNone;
  connection.is_chunked = !parsed.request.is_http_1_0;
  if (response.stream != StreamKind::kNone) connection.keep_alive = false;
  connection.put(std::make_shared<const std::string>(
      render_response(parsed.request, std::move(response), connection.keep_alive)));
  connection.phase = is_stream ? Phase::kStreaming : Phase::kWriting;
  connection.deadline = sources::monotonic_ns() + limits_.response.count();
}

void HttpServer::write_to(Connection& connection) {
  while (!connection.out.empty()) {
    const std::string& piece = *connection.out.front();
    const IoResult result = connection.channel->write(piece.data() + connection.out_at,
                                                      piece.size() - connection.out_at);
    if (result.state == IoState::kClosed) return close(connection);
    if (result.state != IoState::kDone) return;
    connection.out_at += result.bytes;
    connection.out_bytes -= result.bytes;
    if (connection.phase == Phase::kStreaming) {
      connection.deadline = sources::monotonic_ns() + limits_.response.count();
    }
    if (connection.out_at < piece.size()) continue;
    connection.out.pop_front();
    connection.out_at = 0;
  }
  finish_response(connection);
}

void HttpServer::finish_response(Connection& connection) {
  if (connection.phase == Phase::kStreaming) {
    connection.deadline = kNever;  // until there is something to take
    return;
  }
  if (!connection.keep_alive) return linger(connection);
  connection.phase = Phase::kReading;
  connection.idle_since = sources::monotonic_ns();
  connection.deadline = connection.idle_since + limits_.idle.count();
  if (connection.in.empty()) return;
  // The next request has come already. Its turn comes with the next round of the loop, so that one
  // client cannot keep the thread to itself.
  connection.deadline = sources::monotonic_ns() + limits_.request.count();
  answer(connection);
}

void HttpServer::broadcast(const StreamPiece& piece) {
  std::array<std::shared_ptr<const std::string>, 4> made;
  for (const auto& connection : connections_) {
    if (connection->is_closed || connection->phase != Phase::kStreaming) continue;
    const bool is_events = connection->stream == StreamKind::kEvents;
    const std::string& text = is_events ? piece.events : piece.ndjson;
    if (text.empty()) continue;
    auto& shared = made[(is_events ? 2U : 0U) + (connection->is_chunked ? 1U : 0U)];
    if (shared == nullptr) {
      shared = std::make_shared<const std::string>(connection->is_chunked ? chunk(text) : text);
    }
    if (connection->out_bytes + shared->size() > limits_.stream_backlog) {
      ++counts_.dropped;
      close(*connection);
      continue;
    }
    if (connection->out.empty()) {
      connection->deadline = sources::monotonic_ns() + limits_.response.count();
    }
    connection->put(shared);
    write_to(*connection);
    listen_for(*connection);
  }
}

void HttpServer::drop_the_slow(std::int64_t now) {
  for (const auto& connection : connections_) {
    if (connection->is_closed || now < connection->deadline) continue;
    if (!connection->is_idle() && connection->phase != Phase::kLingering) ++counts_.dropped;
    const bool is_half_asked = connection->phase == Phase::kReading && !connection->in.empty();
    if (is_half_asked) {
      const std::string text =
          render_response({}, error_response(408, "the request took too long"), false);
      static_cast<void>(connection->channel->write(text.data(), text.size()));
      linger(*connection);
      listen_for(*connection);
      continue;
    }
    close(*connection);
  }
}

}  // namespace pyrometer::server
