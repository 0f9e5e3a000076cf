// Where tests find their data.
#pragma once

#include <cstdlib>
#include <string>

namespace pyrometer::testing {

// The checkout, without a trailing slash.
inline std::string source_dir() { return PYROMETER_SOURCE_DIR; }

// Reference material that is not part of the project: $PYROMETER_SHARED, else ../shared beside the
// checkout. A test that needs a file from there skips itself, naming the file, where it is absent.
inline std::string shared_dir() {
  const char* given = std::getenv("PYROMETER_SHARED");
  return given != nullptr && *given != '\0' ? given : source_dir() + "/../shared";
}

}  // namespace pyrometer::testing
