// Which exit code an error leads to.
#pragma once

#include "base/result.h"
#include "cli/generated/exit_codes.h"

namespace pyrometer::cli {

[[nodiscard]] inline ExitCode exit_code_of(const base::Error& error) {
  return error.kind == base::ErrorKind::kUsage ? ExitCode::kUsage : ExitCode::kFailed;
}

}  // namespace pyrometer::cli
