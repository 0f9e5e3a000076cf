// Who may ask.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/request.h"

namespace pyrometer::server {

// Reads a bearer token: the file's first line, 16 to 4096 visible characters. A file that others
// than its owner may read, or somebody else's than the caller's or root's, is refused. Errors:
// kNotFound, kPermission, kFormat.
[[nodiscard]] base::Result<std::string> read_token(const std::string& path);

// Takes as long for wrong texts as for right ones of the same length.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b);

// Whether `Authorization` carries the token.
[[nodiscard]] bool is_authorized(const Request& request, std::string_view token);

// A page on the web may make a browser ask us under a name of its own that it has let point to the
// loopback address. Requests that come that way name a host that is none of ours.
[[nodiscard]] bool is_loopback_host(std::string_view host_header);

}  // namespace pyrometer::server
