// Everything that was found, as JSON.
#pragma once

#include "base/json_writer.h"
#include "output/report.h"

namespace pyrometer::output {

// Schema pyrometer.report/1: docs/reference/report.schema.json, explained in report-schema.md
// beside it. The style plays no part. Streams: memory does not grow with the report.
bool write_json_report(const Report& report, const TextStyle&, const base::TextSink& sink);

}  // namespace pyrometer::output
