// Reads a .pyro file: whole runs as Timelines. The only reader of the format.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/timeline.h"

namespace pyrometer::recording {

// Whether a file begins as a recording does.
[[nodiscard]] bool is_recording(std::string_view head);

// One rank per process that used a GPU or made steps; its tables hold the kept steps, joined into
// continuous time that starts at 0 for the whole recording, and RankTimeline::run the whole run.
// Works while the recording is being written. Errors: kNotFound, kPermission, kFormat (damaged, or
// no recording), kUnsupported (written by a newer version), kEmpty (no process in it yet).
[[nodiscard]] base::Result<model::Timeline> read_recording(const std::string& path);
// The same without the kept steps' events: RankTimeline::run alone, which takes no time.
[[nodiscard]] base::Result<model::Timeline> read_runs(const std::string& path);

}  // namespace pyrometer::recording
