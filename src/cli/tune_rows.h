// Between measurements and the rows of a file of results.
#pragma once

#include <optional>
#include <string>

#include "recording/tune_file.h"
#include "tune/objective.h"
#include "tune/space.h"

namespace pyrometer::cli {

[[nodiscard]] recording::TuneRow row_of(const tune::Measurement& one, const tune::Space& space);
// Nothing: the row does not belong to this space.
[[nodiscard]] std::optional<tune::Measurement> measurement_of(const recording::TuneRow& row,
                                                              const tune::Space& space);

}  // namespace pyrometer::cli
