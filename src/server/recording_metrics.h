// Series about recordings that are growing.
#pragma once

#include <vector>

#include "output/exposition.h"
#include "server/recording_status.h"

namespace pyrometer::server {

void write_recording_metrics(const std::vector<RecordingStatus>& recordings,
                             output::Exposition& out);

}  // namespace pyrometer::server
