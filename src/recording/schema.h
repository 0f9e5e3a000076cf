// The tables of a .pyro file. docs/reference/recording.md describes them for readers.
#pragma once

#include <cstdint>
#include <string>

namespace pyrometer::recording {

inline constexpr std::int64_t kApplicationId = 0x5059524F;  // "PYRO"
inline constexpr std::int64_t kSchemaVersion = 1;           // user_version

// All CREATE statements.
[[nodiscard]] std::string schema_sql();

// "compute_tensor, compute_math, …": the cause columns of the table step, in the order of Cause.
[[nodiscard]] std::string cause_columns();

}  // namespace pyrometer::recording
