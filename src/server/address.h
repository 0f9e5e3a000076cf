// Where the server listens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pyrometer::server {

struct Address {
  std::string host;        // "127.0.0.1", "::1", "localhost"; empty with a socket path: none
  std::uint16_t port = 0;  // 0: the system chooses one
  std::string path;        // of a unix socket; empty: TCP

  [[nodiscard]] std::string text() const;  // "127.0.0.1:9400", "[::1]:9400", "unix:/run/x.sock"
};

// "HOST:PORT", ":PORT" (all addresses), "[V6]:PORT", "unix:PATH". Returns what is wrong with it, as
// a clause that follows the quoted text, or "".
[[nodiscard]] std::string parse_address(std::string_view text, Address& address);

// A socket that listens. Closes it, and removes a unix socket's file, when it goes.
class Listener {
 public:
  // Errors: kPermission, kResource (taken: the message names the address and, where that can be
  // seen, who has it), kNotFound (no such host).
  [[nodiscard]] static base::Result<Listener> open(const Address& address);
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&& other) noexcept;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  [[nodiscard]] int fd() const { return fd_; }
  // With the port that the system chose, where it did.
  [[nodiscard]] const Address& address() const { return address_; }
  // Only this machine's own programs reach it.
  [[nodiscard]] bool is_local() const { return is_local_; }

 private:
  Listener(int fd, Address address, bool is_local)
      : fd_(fd), address_(std::move(address)), is_local_(is_local) {}
  int fd_ = -1;
  Address address_;
  bool is_local_ = true;
};

}  // namespace pyrometer::server
