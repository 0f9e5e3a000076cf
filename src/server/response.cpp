#include "server/response.h"

#include <fmt/format.h>

#include <iterator>

#include "base/json_writer.h"
#include "server/gzip.h"

namespace pyrometer::server {

Response error_response(int status, std::string_view message) {
  Response response;
  response.status = status;
  response.content_type = "application/json";
  base::JsonWriter json([&](std::string_view piece) {
    response.body += piece;
    return true;
  });
  json.begin_object(base::JsonLayout::kInline);
  json.member("error", message);
  json.end_object();
  static_cast<void>(json.finish());
  return response;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

std::string render_response(const Request& request, Response response, bool keep_alive) {
  constexpr std::size_t kWorthPacking = 1024;
  const bool is_stream = response.stream != StreamKind::kNone;
  bool is_packed = false;
  if (!is_stream && response.body.size() >= kWorthPacking &&
      accepts(request.header("accept-encoding"), "gzip")) {
    std::string packed = gzip(response.body);
    if (!packed.empty()) {
      response.body = std::move(packed);
      is_packed = true;
    }
  }
  std::string out;
  out.reserve(response.body.size() + 512);
  auto to = std::back_inserter(out);
  fmt::format_to(to, "HTTP/1.1 {} {}\r\n", response.status, reason_phrase(response.status));
  fmt::format_to(to, "Content-Type: {}\r\n", response.content_type);
  // What a browser must not make of it.
  out += "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
  out += "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n";
  for (const auto& [name, value] : response.headers) {
    fmt::format_to(to, "{}: {}\r\n", name, value);
  }
  if (is_packed) out += "Content-Encoding: gzip\r\n";
  if (!is_stream) {
    fmt::format_to(to, "Vary: Accept, Accept-Encoding\r\nContent-Length: {}\r\n",
                   response.body.size());
  } else if (!request.is_http_1_0) {
    out += "Transfer-Encoding: chunked\r\n";
  }
  const bool is_kept = keep_alive && !is_stream;
  if (!is_kept) {
    out += "Connection: close\r\n";
  } else if (request.is_http_1_0) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
  if (request.method == "HEAD") return out;
  if (is_stream && !request.is_http_1_0) {
    if (!response.body.empty()) out += chunk(response.body);
  } else {
    out += response.body;
  }
  return out;
}

std::string chunk(std::string_view text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

}  // namespace pyrometer::server
