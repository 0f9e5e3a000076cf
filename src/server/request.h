// HTTP/1.x requests: strict, bounded, without bodies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pyrometer::server {

struct Request {
  std::string method;  // "GET"
  std::string path;    // percent-decoded, begins with '/', holds no control characters
  std::string query;   // as sent, without '?'
  bool is_http_1_0 = false;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case

  // The value; of several with that name the first; empty where there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
  // Whether the connection may carry another request.
  [[nodiscard]] bool keeps_alive() const;
};

inline constexpr std::size_t kMostRequestBytes = 16384;
inline constexpr std::size_t kMostHeaders = 64;

struct ParsedRequest {
  enum class State : std::uint8_t {
    kIncomplete,  // more bytes are needed
    kComplete,
    kRefused,  // `status` says how to answer; the connection cannot go on
  };
  State state = State::kIncomplete;
  Request request;
  std::size_t bytes = 0;  // of the input that the request took
  int status = 0;
};

// Reads the request at the start of `input`, all that has come so far.
[[nodiscard]] ParsedRequest parse_request(std::string_view input);

// Whether an Accept or Accept-Encoding value names `wanted` ("text/event-stream", "gzip") itself
// with a weight above zero.
[[nodiscard]] bool accepts(std::string_view header, std::string_view wanted);

// A digit's pair after '%' becomes a byte. False where it is none.
[[nodiscard]] bool percent_decode(std::string_view text, std::string& out);

}  // namespace pyrometer::server
