#include "server/request.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace pyrometer::server {
namespace {

using State = ParsedRequest::State;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return lower(c); });
  return out;
}

// RFC 9110: tchar.
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    const bool is_alnum =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_alnum || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// The line without its end (LF or CRLF); nothing where the end has not come.
std::optional<std::string_view> take_line(std::string_view& input) {
  const std::size_t end = input.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view line = input.substr(0, end);
  input.remove_prefix(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Of "GET /metrics HTTP/1.1"; 0 where it is sound, else the status to answer with.
int parse_request_line(std::string_view line, Request& request) {
  constexpr int kBad = 400;
  constexpr int kVersion = 505;
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return kBad;
  const std::string_view method = line.substr(0, first);
  std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method) || !version.starts_with("HTTP/")) return kBad;
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return kVersion;
  request.is_http_1_0 = version == "HTTP/1.0";
  request.method = method;
  // What proxies send.
  constexpr std::string_view kScheme = "http://";
  if (target.starts_with(kScheme)) {
    const std::size_t slash = target.find('/', kScheme.size());
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  if (!target.starts_with('/') || target.find(' ') != std::string_view::npos) return kBad;
  const std::size_t question = target.find('?');
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
  if (!percent_decode(target.substr(0, question), request.path)) return kBad;
  const bool has_control = std::ranges::any_of(request.path, is_control) ||
                           std::ranges::any_of(request.query, is_control);
  return has_control ? kBad : 0;
}

int parse_header(std::string_view line, Request& request) {
  constexpr int kBad = 400;
  constexpr int kTooMany = 431;
  if (request.headers.size() == kMostHeaders) return kTooMany;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return kBad;
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (std::ranges::any_of(value, [](char c) { return is_control(c) && c != '\t'; })) return kBad;
  request.headers.emplace_back(lower(line.substr(0, colon)), value);
  return 0;
}

// A body would have to be read to find the next request; nothing here takes one.
int check_body(const Request& request) {
  constexpr int kTooLarge = 413;
  if (!request.header("transfer-encoding").empty()) return kTooLarge;
  for (const auto& [name, value] : request.headers) {
    if (name == "content-length" && value != "0") return kTooLarge;
  }
  return 0;
}

int check_host(const Request& request) {
  constexpr int kBad = 400;
  const auto count = std::ranges::count_if(
      request.headers, [](const auto& header) { return header.first == "host"; });
  return count > 1 || (count == 0 && !request.is_http_1_0) ? kBad : 0;
}

ParsedRequest refused(int status) {
  ParsedRequest out;
  out.state = State::kRefused;
  out.status = status;
  return out;
}

}  // namespace

std::string_view Request::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

bool Request::keeps_alive() const {
  const std::string wish = lower(header("connection"));
  return is_http_1_0 ? wish == "keep-alive" : wish.find("close") == std::string::npos;
}

bool percent_decode(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const auto high = hex_digit(text[i + 1]);
    const auto low = hex_digit(text[i + 2]);
    if (!high || !low) return false;
    out += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return true;
}

bool accepts(std::string_view header, std::string_view wanted) {
  while (!header.empty()) {
    const std::size_t comma = header.find(',');
    std::string_view item = header.substr(0, comma);
    header.remove_prefix(comma == std::string_view::npos ? header.size() : comma + 1);
    const std::size_t semicolon = item.find(';');
    if (lower(trimmed(item.substr(0, semicolon))) != wanted) continue;
    if (semicolon == std::string_view::npos) return true;
    const std::string parameters = lower(item.substr(semicolon));
    const std::size_t weight = parameters.find("q=");
    return weight == std::string::npos || std::strtod(parameters.c_str() + weight + 2, nullptr) > 0;
  }
  return false;
}

ParsedRequest parse_request(std::string_view input) {
  constexpr int kTooLarge = 431;
  const ParsedRequest too_large = refused(kTooLarge);
  const bool is_full = input.size() >= kMostRequestBytes;
  std::string_view rest = input.substr(0, kMostRequestBytes);
  ParsedRequest out;
  // Clients may send an empty line after the last request.
  while (rest.starts_with("\r\n")) rest.remove_prefix(2);
  auto line = take_line(rest);
  if (!line) return is_full ? too_large : out;
  int status = parse_request_line(*line, out.request);
  if (status != 0) return refused(status);
  while (true) {
    line = take_line(rest);
    if (!line) return is_full ? too_large : ParsedRequest();
    if (line->empty()) break;
    status = parse_header(*line, out.request);
    if (status != 0) return refused(status);
  }
  for (const auto check : {check_host, check_body}) {
    status = check(out.request);
    if (status != 0) return refused(status);
  }
  out.state = State::kComplete;
  out.bytes = static_cast<std::size_t>(rest.data() - input.data());
  return out;
}

}  // namespace pyrometer::server
