// Serves HTTP on one thread: no client can hold up another, none gets more than its share.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/address.h"
#include "server/request.h"
#include "server/response.h"
#include "server/tls.h"

namespace pyrometer::server {

struct HttpLimits {
  std::size_t connections = 64;  // more are answered 503 and closed, idle ones give way first
  std::size_t streams = 16;
  std::chrono::nanoseconds request = std::chrono::seconds(5);    // handshake and head together
  std::chrono::nanoseconds idle = std::chrono::seconds(90);      // between two requests
  std::chrono::nanoseconds response = std::chrono::seconds(10);  // to take all of it; of a stream:
                                                                 // to take anything
  std::size_t stream_backlog = 4U << 20U;  // bytes that a stream's reader may lag behind
};

struct HttpCounts {
  std::uint64_t requests = 0;  // that were understood
  std::uint64_t refused = 0;   // bad requests, and those for which there was no room
  std::uint64_t dropped = 0;   // clients that were too slow
  std::size_t connections = 0;
  std::size_t streams = 0;
};

// One piece of a stream, in both forms.
struct StreamPiece {
  std::string ndjson;
  std::string events;  // text/event-stream
};

// Called on the server's thread; must not block and not throw.
using Handler = std::function<Response(const Request& request, const Listener& listener)>;

class HttpServer {
 public:
  // `tls` may be null; unix sockets are plain in any case.
  HttpServer(std::vector<Listener> listeners, const Tls* tls, HttpLimits limits, Handler handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // Errors: kResource.
  [[nodiscard]] base::Result<void> prepare();
  // Calls `react` on the server's thread while `fd` can be read. Before run().
  void watch(int fd, std::function<void()> react);
  // Serves until stop(), which is for `react` and the handler to call.
  void run();
  void stop() { is_stopping_ = true; }

  // Sends to all streams. On the server's thread.
  void broadcast(const StreamPiece& piece);
  [[nodiscard]] HttpCounts counts() const;
  [[nodiscard]] const std::vector<Listener>& listeners() const { return listeners_; }

 private:
  struct Connection;
  struct Watched;
  void accept_from(std::size_t listener);
  [[nodiscard]] std::size_t open_connections() const;
  void make_room();
  void serve(Connection& connection, std::uint32_t ready);
  void read_from(Connection& connection);
  void answer(Connection& connection);
  void write_to(Connection& connection);
  void finish_response(Connection& connection);
  void linger(Connection& connection);
  void listen_for(Connection& connection);
  void close(Connection& connection);
  void drop_the_slow(std::int64_t now);
  [[nodiscard]] int patience(std::int64_t now) const;
  void set_accepting(bool on);

  std::vector<Listener> listeners_;
  const Tls* tls_;
  HttpLimits limits_;
  Handler handler_;
  int poll_ = -1;
  bool is_stopping_ = false;
  bool is_accepting_ = true;
  std::int64_t accept_again_ = 0;
  std::vector<Watched> watched_;
  std::vector<std::unique_ptr<Connection>> connections_;
  HttpCounts counts_;
};

}  // namespace pyrometer::server
