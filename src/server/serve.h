// `pyrometer serve`, put together.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "readout/live.h"
#include "server/address.h"
#include "server/http_server.h"
#include "server/recording_watch.h"
#include "server/site.h"
#include "server/tls.h"

namespace pyrometer::server {

struct ServeOptions {
  std::vector<Address> listen;
  std::string token_file;  // empty: none
  std::optional<TlsFiles> tls;
  bool insecure = false;  // listen beyond this machine without a token and without TLS
  HttpLimits limits;
  SiteOptions site;  // its token comes from the file
  RecordingWatchOptions recordings;
};

// Opens all that may fail: token, certificate, sockets. Nothing is read of a GPU yet.
class Server {
 public:
  // Errors: kUsage (more open than it should be), and those of what is opened.
  [[nodiscard]] static base::Result<std::unique_ptr<Server>> open(ServeOptions options);
  ~Server();

  // "http://127.0.0.1:9400", "unix:/run/pyrometer.sock".
  [[nodiscard]] std::vector<std::string> urls() const;

  // Serves until SIGTERM, SIGINT or SIGHUP, which the caller's threads have to have blocked with
  // block_ending_signals(). Calls `ready` once, before the first request. Does not wait for a
  // source that hangs. Errors: kResource.
  [[nodiscard]] base::Result<void> run(readout::Live& live, const std::function<void()>& ready);

 private:
  Server(ServeOptions options, std::string token);

  ServeOptions options_;
  std::string token_;
  std::unique_ptr<Tls> tls_;
  std::vector<Listener> listeners_;
};

// Before any thread is started.
void block_ending_signals();

// Tells systemd, where it waits for it ($NOTIFY_SOCKET).
void notify_service_manager(std::string_view state);

}  // namespace pyrometer::server
