// Whatever bytes a client sends: a request is understood, refused or waited for, in the same way
// however the bytes come in, and what is answered is one response.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/access.h"
#include "server/request.h"
#include "server/response.h"

namespace {

using namespace pyrometer::server;
using State = ParsedRequest::State;

void expect(bool truth) {
  if (!truth) std::abort();
}

void check_request(const Request& request, std::string_view input) {
  expect(request.path.starts_with('/'));
  for (const char c : request.path) expect(static_cast<unsigned char>(c) >= 0x20);
  expect(request.headers.size() <= kMostHeaders);
  static_cast<void>(accepts(request.header("accept"), "application/openmetrics-text"));
  static_cast<void>(is_loopback_host(request.header("host")));
  static_cast<void>(is_authorized(request, "0123456789abcdef"));
  Response response = error_response(404, input);
  const std::string out = render_response(request, response, request.keeps_alive());
  const std::size_t end = out.find("\r\n\r\n");
  expect(out.starts_with("HTTP/1.1 404 Not Found\r\n") && end != std::string::npos);
  // Nothing that a client sends can add a header.
  expect(out.substr(0, end).find('\0') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const ParsedRequest whole = parse_request(input);
  if (whole.state == State::kComplete) {
    expect(whole.bytes > 0 && whole.bytes <= size);
    check_request(whole.request, input.substr(0, 256));
    // The same with what follows cut off, and never complete with less.
    const ParsedRequest exact = parse_request(input.substr(0, whole.bytes));
    expect(exact.state == State::kComplete && exact.request.path == whole.request.path);
    expect(parse_request(input.substr(0, whole.bytes - 1)).state != State::kComplete);
  }
  if (whole.state == State::kRefused) expect(whole.status >= 400 && whole.status < 600);
  if (whole.state == State::kIncomplete) expect(size < kMostRequestBytes);
  return 0;
}
