// JSON documents of the server's own; the schemas lie in docs/reference/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "readout/live.h"
#include "server/recording_status.h"

namespace pyrometer::server {

// Of the sources at one moment.
struct Health {
  bool is_ok = false;
  std::vector<std::string> reasons;  // why it is not
};
// Sound while at least one source has told something within `most_age_ns` and none hangs.
[[nodiscard]] Health health_of(const readout::LiveView& view, std::int64_t now_ns,
                               std::int64_t most_age_ns);
[[nodiscard]] std::string health_document(const Health& health, const readout::LiveView& view,
                                          std::int64_t now_ns);

// Those with a number above `since`.
[[nodiscard]] std::string events_document(const readout::LiveView& view, std::uint64_t since);
// One event on one line, for streams.
[[nodiscard]] std::string event_line(const readout::LiveEvent& event);

[[nodiscard]] std::string recordings_document(const std::vector<RecordingStatus>& recordings,
                                              const std::string& host);

}  // namespace pyrometer::server
