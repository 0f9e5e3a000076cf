// Intervals in the JSON of compare, try and tune.
#pragma once

#include <optional>

#include "base/json_writer.h"
#include "verify/bootstrap.h"

namespace pyrometer::output {

// {"value": …, "low": …, "high": …}, the bounds null where they are not known; null without an
// interval.
void write_interval_json(base::JsonWriter& json, const std::optional<verify::Interval>& interval);

}  // namespace pyrometer::output
