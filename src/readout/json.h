// Snapshots for programs: docs/reference/stat.schema.json.
#pragma once

#include "base/json_writer.h"
#include "readout/snapshot.h"

namespace pyrometer::readout {

// One document and a newline. kInline puts it on one line (NDJSON). False when the sink refused
// something.
[[nodiscard]] bool write_json(const Snapshot& snapshot, base::JsonLayout layout,
                              const base::TextSink& sink);

// The processes of all devices as rows of one table: docs/reference/processes.schema.json.
[[nodiscard]] bool write_processes_json(const Snapshot& snapshot, const base::TextSink& sink);

}  // namespace pyrometer::readout
