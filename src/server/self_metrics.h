// Series about the exporter itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "output/exposition.h"
#include "readout/live.h"
#include "server/http_server.h"

namespace pyrometer::server {

// Events since the start, counted as they come.
class EventCounts {
 public:
  // Counts those of the view that are newer than the last one counted, and returns them.
  std::vector<readout::LiveEvent> take(const readout::LiveView& view);
  void write(output::Exposition& out) const;

 private:
  using Key = std::tuple<std::string, std::string>;  // kind and source; UUID and code of an Xid
  std::uint64_t last_ = 0;
  std::map<Key, std::uint64_t> kinds_;
  std::map<Key, std::uint64_t> xids_;
};

struct ScrapeTimes {
  std::uint64_t count = 0;
  double seconds = 0;       // all together
  double last_seconds = 0;  // of the one before
};

// `now_ns` of CLOCK_MONOTONIC, `unix_ms` of the same moment.
void write_source_metrics(const std::vector<readout::LiveSource>& sources, std::int64_t now_ns,
                          std::int64_t unix_ms, std::int64_t most_age_ns, output::Exposition& out);
void write_server_metrics(const HttpCounts& counts, const ScrapeTimes& scrapes,
                          output::Exposition& out);
// CPU time, memory, open files and start of this process, by the names that every exporter uses.
void write_process_self_metrics(output::Exposition& out);

[[nodiscard]] std::string_view state_text(sources::SourceState state);

}  // namespace pyrometer::server
