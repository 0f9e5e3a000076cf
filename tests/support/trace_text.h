// Small Kineto traces as text.
#pragma once

#include <string>
#include <vector>

namespace pyrometer::testing {

// A kernel with its launch, an operator around the launch, and the like: events of every category
// that the importer knows, as Kineto prints them. The times of round `n` lie behind those of n - 1.
[[nodiscard]] std::vector<std::string> sample_events(int rounds);

// {"schemaVersion": 1, HEADER, "traceEvents": [ … ], TRAILER}; both may be empty.
[[nodiscard]] std::string trace_of(const std::vector<std::string>& events,
                                   const std::string& header = "",
                                   const std::string& trailer = "\"traceName\": \"t.json\"");

// One event of category cpu_op.
[[nodiscard]] std::string op_event(const std::string& name, const std::string& time,
                                   const std::string& duration);
// One kernel on device 0, stream 7; `more` is put into its args and begins with a comma.
[[nodiscard]] std::string kernel_event(const std::string& name, const std::string& time,
                                       const std::string& duration, int correlation = 0,
                                       const std::string& more = "");

}  // namespace pyrometer::testing
