// What is answered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/request.h"

namespace pyrometer::server {

// A stream goes on with what is broadcast until the client leaves.
enum class StreamKind : std::uint8_t { kNone, kNdjson, kEvents };

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string_view, std::string>> headers;  // further ones
  StreamKind stream = StreamKind::kNone;  // `body` is the stream's beginning
};

// {"error": "…"}
[[nodiscard]] Response error_response(int status, std::string_view message);

// "Not Found"
[[nodiscard]] std::string_view reason_phrase(int status);

// Status line, headers, and the body but for HEAD: packed with gzip where that is wanted and pays.
// `keep_alive` says what the connection will do.
[[nodiscard]] std::string render_response(const Request& request, Response response,
                                          bool keep_alive);

// A piece of a stream as this client has to get it.
[[nodiscard]] std::string chunk(std::string_view text);

}  // namespace pyrometer::server
