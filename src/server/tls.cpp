#include "server/tls.h"

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace pyrometer::server {
namespace {

// What is used of OpenSSL 1.1 and 3: functions and numbers that both have had from the start.
struct Api {
  const void* (*server_method)() = nullptr;
  void* (*context_new)(const void*) = nullptr;
  void (*context_free)(void*) = nullptr;
  long (*context_ctrl)(void*, int, long, void*) = nullptr;
  unsigned long (*context_set_options)(void*, unsigned long) = nullptr;
  int (*use_chain)(void*, const char*) = nullptr;
  int (*use_key)(void*, const char*, int) = nullptr;
  int (*check_key)(const void*) = nullptr;
  void* (*session_new)(void*) = nullptr;
  void (*session_free)(void*) = nullptr;
  int (*set_fd)(void*, int) = nullptr;
  int (*accept)(void*) = nullptr;
  int (*read)(void*, void*, int) = nullptr;
  int (*write)(void*, const void*, int) = nullptr;
  int (*pending)(const void*) = nullptr;
  int (*get_error)(const void*, int) = nullptr;
  int (*shutdown)(void*) = nullptr;
  unsigned long (*get_queued_error)() = nullptr;
  void (*error_text)(unsigned long, char*, std::size_t) = nullptr;
  void (*clear_errors)() = nullptr;
};

constexpr int kCtrlMode = 33;
constexpr int kCtrlMinVersion = 123;
constexpr long kTls12 = 0x0303;
constexpr long kPartialWrite = 1;
constexpr long kMovingBuffer = 2;
constexpr long kReleaseBuffers = 16;
constexpr unsigned long kNoRenegotiation = 1UL << 30U;
constexpr int kPem = 1;
constexpr int kWantReadCode = 2;
constexpr int kWantWriteCode = 3;

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// Null where this machine has no OpenSSL. Stays open to the end.
const Api* open_library() {
  static const Api* const kApi = []() -> const Api* {
    for (const char* name : {"libssl.so.3", "libssl.so.1.1"}) {
      void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) continue;
      static Api api;
      const bool is_whole =
          find(library, "TLS_server_method", api.server_method) &&
          find(library, "SSL_CTX_new", api.context_new) &&
          find(library, "SSL_CTX_free", api.context_free) &&
          find(library, "SSL_CTX_ctrl", api.context_ctrl) &&
          find(library, "SSL_CTX_set_options", api.context_set_options) &&
          find(library, "SSL_CTX_use_certificate_chain_file", api.use_chain) &&
          find(library, "SSL_CTX_use_PrivateKey_file", api.use_key) &&
          find(library, "SSL_CTX_check_private_key", api.check_key) &&
          find(library, "SSL_new", api.session_new) &&
          find(library, "SSL_free", api.session_free) && find(library, "SSL_set_fd", api.set_fd) &&
          find(library, "SSL_accept", api.accept) && find(library, "SSL_read", api.read) &&
          find(library, "SSL_write", api.write) && find(library, "SSL_pending", api.pending) &&
          find(library, "SSL_get_error", api.get_error) &&
          find(library, "SSL_shutdown", api.shutdown) &&
          find(library, "ERR_get_error", api.get_queued_error) &&
          find(library, "ERR_error_string_n", api.error_text) &&
          find(library, "ERR_clear_error", api.clear_errors);
      if (is_whole) return &api;
    }
    return nullptr;
  }();
  return kApi;
}

int clipped(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

class PlainChannel final : public Channel {
 public:
  explicit PlainChannel(int fd) : fd_(fd) {}
  [[nodiscard]] IoResult handshake() override { return {IoState::kDone, 0}; }
  [[nodiscard]] IoResult read(char* data, std::size_t size) override {
    return result(::recv(fd_, data, size, 0), IoState::kWantRead);
  }
  [[nodiscard]] IoResult write(const char* data, std::size_t size) override {
    return result(::send(fd_, data, size, MSG_NOSIGNAL), IoState::kWantWrite);
  }
  [[nodiscard]] bool has_pending() const override { return false; }
  void shut_down() override {}

 private:
  static IoResult result(ssize_t moved, IoState wanted) {
    if (moved > 0) return {IoState::kDone, static_cast<std::size_t>(moved)};
    const bool again = moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    return {again ? wanted : IoState::kClosed, 0};
  }
  int fd_;
};

class TlsChannel final : public Channel {
 public:
  TlsChannel(const Api& api, void* session) : api_(api), session_(session) {}
  ~TlsChannel() override { api_.session_free(session_); }
  [[nodiscard]] IoResult handshake() override {
    api_.clear_errors();
    return result(api_.accept(session_));
  }
  [[nodiscard]] IoResult read(char* data, std::size_t size) override {
    api_.clear_errors();
    return result(api_.read(session_, data, clipped(size)));
  }
  [[nodiscard]] IoResult write(const char* data, std::size_t size) override {
    api_.clear_errors();
    return result(api_.write(session_, data, clipped(size)));
  }
  [[nodiscard]] bool has_pending() const override { return api_.pending(session_) > 0; }
  void shut_down() override {
    if (is_broken_) return;
    api_.clear_errors();
    static_cast<void>(api_.shutdown(session_));
  }

 private:
  IoResult result(int code) {
    if (code > 0) return {IoState::kDone, static_cast<std::size_t>(code)};
    switch (api_.get_error(session_, code)) {
      case kWantReadCode:
        return {IoState::kWantRead, 0};
      case kWantWriteCode:
        return {IoState::kWantWrite, 0};
      default:
        is_broken_ = true;  // OpenSSL wants no farewell after a failure
        return {IoState::kClosed, 0};
    }
  }
  const Api& api_;
  void* session_;
  bool is_broken_ = false;
};

base::Error file_error(const std::string& file, const Api& api, const char* what) {
  std::array<char, 256> text{};
  api.error_text(api.get_queued_error(), text.data(), text.size());
  return {.kind = base::ErrorKind::kFormat,
          .message = std::string(what) + ": " + text.data(),
          .file = file,
          .expected = "PEM"};
}

base::Result<void> readable(const std::string& file) {
  if (::access(file.c_str(), R_OK) == 0) return {};
  const int why = errno;
  return base::fail(
      {.kind = why == ENOENT ? base::ErrorKind::kNotFound : base::ErrorKind::kPermission,
       .message = std::string("cannot read: ") + std::strerror(why),
       .file = file});
}

}  // namespace

std::unique_ptr<Channel> plain_channel(int fd) { return std::make_unique<PlainChannel>(fd); }

struct Tls::Context {
  const Api* api = nullptr;
  void* context = nullptr;
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    if (context != nullptr) api->context_free(context);
  }
};

Tls::Tls(std::unique_ptr<Context> context) : context_(std::move(context)) {}
Tls::Tls(Tls&&) noexcept = default;
Tls& Tls::operator=(Tls&&) noexcept = default;
Tls::~Tls() = default;

base::Result<Tls> Tls::load(const TlsFiles& files) {
  for (const std::string& file : {files.certificate, files.key}) {
    if (auto ok = readable(file); !ok) return base::fail(ok.error());
  }
  struct stat status {};
  if (::stat(files.key.c_str(), &status) == 0 && (status.st_mode & S_IRWXO) != 0) {
    return base::fail({.kind = base::ErrorKind::kPermission,
                       .message = "everybody may read the key",
                       .file = files.key,
                       .advice = "chmod 600 " + files.key});
  }
  const Api* const api = open_library();
  if (api == nullptr) {
    return base::fail(
        {.kind = base::ErrorKind::kUnsupported,
         .message = "TLS needs OpenSSL 3 or 1.1 (libssl.so.3), which is not installed",
         .advice = "Install libssl3, or put a proxy that does TLS in front"});
  }
  auto context = std::make_unique<Context>();
  context->api = api;
  context->context = api->context_new(api->server_method());
  if (context->context == nullptr) {
    return base::fail({.kind = base::ErrorKind::kResource, .message = "OpenSSL has no memory"});
  }
  api->clear_errors();
  api->context_ctrl(context->context, kCtrlMinVersion, kTls12, nullptr);
  api->context_ctrl(context->context, kCtrlMode, kPartialWrite | kMovingBuffer | kReleaseBuffers,
                    nullptr);
  api->context_set_options(context->context, kNoRenegotiation);
  if (api->use_chain(context->context, files.certificate.c_str()) != 1) {
    return base::fail(file_error(files.certificate, *api, "no certificate"));
  }
  if (api->use_key(context->context, files.key.c_str(), kPem) != 1) {
    return base::fail(file_error(files.key, *api, "no key of this certificate"));
  }
  if (api->check_key(context->context) != 1) {
    return base::fail(file_error(files.key, *api, "is not the certificate's key"));
  }
  return Tls(std::move(context));
}

std::unique_ptr<Channel> Tls::channel(int fd) const {
  void* const session = context_->api->session_new(context_->context);
  if (session == nullptr) return nullptr;
  if (context_->api->set_fd(session, fd) != 1) {
    context_->api->session_free(session);
    return nullptr;
  }
  return std::make_unique<TlsChannel>(*context_->api, session);
}

}  // namespace pyrometer::server
