// The readings of a recording, for the source that plays them.
#pragma once

#include <memory>
#include <string>

#include "sources/replay/recorded_source.h"

namespace pyrometer::cli {

// Errors: those of recording::MetricReader::open.
[[nodiscard]] base::Result<std::unique_ptr<sources::replay::RecordedRows>> open_recorded_rows(
    const std::string& path);

}  // namespace pyrometer::cli
