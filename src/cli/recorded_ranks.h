// The ranks of the processes that are being recorded on this machine.
#pragma once

#include <string>

#include "sources/procfs/process_owner.h"

namespace pyrometer::cli {

// Reads the recordings that a recorder has open, each recorder's once in two seconds at most, as
// far as one's rights reach. `root`: prefix of /proc. For one thread.
[[nodiscard]] sources::RankLookup recorded_ranks(std::string root);

}  // namespace pyrometer::cli
