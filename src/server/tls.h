// TLS through the system's OpenSSL, opened when it is asked for: a copy of our own would grow old
// with the holes that the system's packages have mended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace pyrometer::server {

enum class IoState : std::uint8_t {
  kDone,       // `bytes` were moved, at least one
  kWantRead,   // again once the socket can be read
  kWantWrite,  // … written
  kClosed,     // by the other side, or broken
};
struct IoResult {
  IoState state = IoState::kClosed;
  std::size_t bytes = 0;
};

// One connection's bytes, plain or packed.
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;
  // None of them blocks. kDone of the handshake has no bytes.
  [[nodiscard]] virtual IoResult handshake() = 0;
  [[nodiscard]] virtual IoResult read(char* data, std::size_t size) = 0;
  [[nodiscard]] virtual IoResult write(const char* data, std::size_t size) = 0;
  // Whether read() may have bytes that the socket no longer shows.
  [[nodiscard]] virtual bool has_pending() const = 0;
  // Says goodbye, as far as that goes at once.
  virtual void shut_down() = 0;
};

// Over a socket that the caller owns and that does not block.
[[nodiscard]] std::unique_ptr<Channel> plain_channel(int fd);

struct TlsFiles {
  std::string certificate;  // PEM, with the chain
  std::string key;          // PEM
};

class Tls {
 public:
  // Opens libssl and reads the files. Errors: kUnsupported (no OpenSSL on this machine), kFormat,
  // kPermission, kNotFound.
  [[nodiscard]] static base::Result<Tls> load(const TlsFiles& files);
  Tls(Tls&&) noexcept;
  Tls& operator=(Tls&&) noexcept;
  ~Tls();

  [[nodiscard]] std::unique_ptr<Channel> channel(int fd) const;  // null: out of memory

 private:
  struct Context;
  explicit Tls(std::unique_ptr<Context> context);
  std::unique_ptr<Context> context_;
};

}  // namespace pyrometer::server
