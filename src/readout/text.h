// Snapshots for people.
#pragma once

#include <string>

#include "output/report.h"
#include "readout/snapshot.h"

namespace pyrometer::readout {

// A line for each GPU, its instances and processes below it. Missing values are "–"; `verbose` says
// why, after the table. Where there is no GPU, a sentence says why.
[[nodiscard]] std::string snapshot_text(const Snapshot& snapshot, const output::TextStyle& style);

// Why there are no GPUs: "no GPU can be read: … . Advice."
[[nodiscard]] std::string problem_text(const base::Error& problem);

}  // namespace pyrometer::readout
