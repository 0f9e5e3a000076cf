// What is shown in place of this machine's GPUs: a made-up fleet, a recording.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sources/procfs/process_owner.h"
#include "sources/source.h"

namespace pyrometer::sources {

struct StandIn {
  std::string host;            // as shown
  std::string_view no_signal;  // why its processes cannot be sent one: "it is made up"
  OwnerLookup owners;          // of its processes
  // Unix time of what is shown, in milliseconds; empty: now.
  std::function<std::int64_t()> unix_ms;
  // A new source of its GPUs, which heeds SourceOptions::gpus and identify_always.
  std::function<std::unique_ptr<Source>(const SourceOptions&)> source;
};

}  // namespace pyrometer::sources
