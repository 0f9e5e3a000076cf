// Opens a .pyro file for reading, whoever wrote it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "recording/database.h"

namespace pyrometer::recording {

// Errors: kNotFound, kPermission, kFormat (no recording), kUnsupported (another version).
[[nodiscard]] base::Result<Database> open_recording(const std::string& path);

// A recording holds tables and indexes alone; a view could compute without end. Error: kFormat.
[[nodiscard]] base::Result<void> expect_plain_tables(Database& database);

[[nodiscard]] base::Result<std::int64_t> pragma(Database& database, const char* name);
// That a table cannot be read.
[[nodiscard]] base::Error damaged(const Database& database, std::string_view table);

}  // namespace pyrometer::recording
