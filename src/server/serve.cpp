#include "server/serve.h"

#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "server/access.h"

namespace pyrometer::server {
namespace {

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP};

sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : kEndingSignals) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    // nohup and background jobs of a shell: what they ignore stays ignored.
    if (action.sa_handler != SIG_IGN) ::sigaddset(&set, number);
  }
  return set;
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

// Gives memory that is free back to the system once a minute: after thousands of processes were on
// the GPUs there is a lot of it, spread over the heaps of all threads.
class Trimmer {
 public:
  void look() {
    constexpr auto kPeriod = std::chrono::minutes(1);
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kPeriod) return;
    last_ = now;
    ::malloc_trim(0);
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Wakes the server for every snapshot.
class Waker {
 public:
  Waker(const readout::Live& live, int fd)
      : thread_([this, &live, fd] {
          std::uint64_t number = 0;
          Trimmer trimmer;
          while (!is_over_) {
            constexpr auto kPatience = std::chrono::seconds(1);
            live.wait_newer(number, kPatience);
            live.look_after();
            number = live.view().number;
            const std::uint64_t one = 1;
            static_cast<void>(!::write(fd, &one, sizeof one));
            trimmer.look();
          }
        }) {}
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;
  // After the end of `live`, which lets go of the thread at once.
  ~Waker() {
    is_over_ = true;
    thread_.join();
  }
  void end() { is_over_ = true; }

 private:
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

base::Error no_room(const char* what) {
  return {.kind = base::ErrorKind::kResource,
          .message = std::string("cannot serve: ") + what + ": " + std::strerror(errno)};
}

}  // namespace

void block_ending_signals() {
  const sigset_t set = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void notify_service_manager(std::string_view state) {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path == nullptr || (path[0] != '/' && path[0] != '@')) return;
  const std::size_t length = std::strlen(path);
  if (length >= sizeof name.sun_path) return;
  std::memcpy(name.sun_path, path, length);
  if (path[0] == '@') name.sun_path[0] = '\0';
  const File socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (socket.fd() < 0) return;
  static_cast<void>(::sendto(socket.fd(), state.data(), state.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&name),
                             static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length)));
}

Server::Server(ServeOptions options, std::string token)
    : options_(std::move(options)), token_(std::move(token)) {}

Server::~Server() = default;

base::Result<std::unique_ptr<Server>> Server::open(ServeOptions options) {
  std::string token;
  if (!options.token_file.empty()) {
    auto read = read_token(options.token_file);
    if (!read) return base::fail(read.error());
    token = std::move(*read);
  }
  std::unique_ptr<Server> server(new Server(std::move(options), std::move(token)));
  if (server->options_.tls) {
    auto tls = Tls::load(*server->options_.tls);
    if (!tls) return base::fail(tls.error());
    server->tls_ = std::make_unique<Tls>(std::move(*tls));
  }
  const bool is_guarded =
      !server->token_.empty() || server->tls_ != nullptr || server->options_.insecure;
  for (const Address& address : server->options_.listen) {
    auto listener = Listener::open(address);
    if (!listener) return base::fail(listener.error());
    if (!listener->is_local() && !is_guarded) {
      return base::fail(
          {.kind = base::ErrorKind::kUsage,
           .message = address.text() + " can be reached from other machines, and anybody could "
                                       "read who runs what here",
           .advice = "Give --token-file, or --tls-cert and --tls-key, or --insecure where the "
                     "network is trusted"});
    }
    server->listeners_.push_back(std::move(*listener));
  }
  return server;
}

std::vector<std::string> Server::urls() const {
  std::vector<std::string> urls;
  for (const Listener& listener : listeners_) {
    const bool is_unix = !listener.address().path.empty();
    const char* const scheme = is_unix ? "" : tls_ != nullptr ? "https://" : "http://";
    urls.push_back(scheme + listener.address().text());
  }
  return urls;
}

base::Result<void> Server::run(readout::Live& live, const std::function<void()>& ready) {
  RecordingWatch recordings(options_.recordings);
  SiteOptions site_options = options_.site;
  site_options.token = token_;
  Site site(live, recordings, std::move(site_options));
  HttpServer http(std::move(listeners_), tls_.get(), options_.limits,
                  [&site](const Request& request, const Listener& listener) {
                    return site.answer(request, listener);
                  });
  site.set_counts([&http] { return http.counts(); });
  if (auto ok = http.prepare(); !ok) return ok;

  const sigset_t set = ending_signals();
  const File signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  const File news(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (signals.fd() < 0 || news.fd() < 0) return base::fail(no_room("signals"));
  http.watch(signals.fd(), [&http] { http.stop(); });
  http.watch(news.fd(), [&] {
    std::uint64_t count = 0;
    static_cast<void>(!::read(news.fd(), &count, sizeof count));
    const bool has_readers = http.counts().streams > 0;
    for (const StreamPiece& piece : site.news(has_readers)) http.broadcast(piece);
  });
  if (auto ok = live.start(); !ok) return ok;
  recordings.start();
  try {
    Waker waker(live, news.fd());
    ready();
    http.run();
    waker.end();
    live.stop();
  } catch (const std::system_error& error) {
    return base::fail({.kind = base::ErrorKind::kResource,
                       .message = std::string("cannot serve: ") + error.what()});
  }
  return {};
}

}  // namespace pyrometer::server
