// Errors as values. Every fallible function of Pyrometer returns Result<T>.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace pyrometer::base {

enum class ErrorKind : std::uint8_t {
  kNotFound,     // a named thing does not exist
  kPermission,   // the system refused access
  kIo,           // reading or writing failed
  kFormat,       // bytes are not what was expected
  kDamaged,      // the right thing, but cut off or damaged before anything usable
  kEmpty,        // input is sound but holds nothing to work on
  kUnsupported,  // recognised, but not something this build can read
  kUsage,        // the caller's words are off
  kResource,     // out of memory, disk or another bounded resource
};

// What went wrong, where, what was expected there, and what to do about it.
struct Error {
  ErrorKind kind = ErrorKind::kIo;
  std::string message;       // what happened, in one clause, no trailing period
  std::string file;          // path or "<stdin>", empty when no file is involved
  std::int64_t offset = -1;  // byte in the (decompressed) file, -1 when unknown
  std::string expected;      // what a sound input would have had there, may be empty
  std::string advice;        // what the user can do, may be empty

  // "FILE: byte N: message (expected …). Advice." on one line.
  [[nodiscard]] std::string to_string() const;
};

template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace pyrometer::base
