#include "output/json_interval.h"

namespace pyrometer::output {

void write_interval_json(base::JsonWriter& json, const std::optional<verify::Interval>& interval) {
  if (!interval) return json.null();
  json.begin_object(base::JsonLayout::kInline);
  json.member("value", interval->value);
  json.member("low", interval->known ? std::optional(interval->low) : std::nullopt);
  json.member("high", interval->known ? std::optional(interval->high) : std::nullopt);
  json.end_object();
}

}  // namespace pyrometer::output
