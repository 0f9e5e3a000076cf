// One gRPC call to a server on this machine, without a gRPC library: a request, an answer, the end.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pyrometer::sources::kube {

// Calls `method` ("/package.Service/Method") over HTTP/2 on a Unix socket and returns the answer,
// a serialised protobuf message as the request is. Answers of more than 16 MiB, and compressed
// ones, are refused. Errors: kNotFound (no socket), kPermission, kIo (no answer in time, refused),
// kFormat.
[[nodiscard]] base::Result<std::string> grpc_call(const std::string& socket,
                                                  std::string_view method, std::string_view request,
                                                  std::chrono::milliseconds patience);

}  // namespace pyrometer::sources::kube
