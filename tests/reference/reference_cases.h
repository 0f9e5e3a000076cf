// The traces that HTA's figures are known for.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/reference/hta_view.h"

namespace pyrometer::testing {

struct ReferenceCase {
  std::string_view folder;               // under traces/
  std::string_view name;                 // of the reference file, without .json
  std::vector<std::string_view> traces;  // file names without .trace.json.gz; empty: one, `name`
  HtaOptions options;
  // Kernels whose launch lies before the trace, in a trace with one step: HTA keeps them.
  bool kernels_before_the_trace = false;

  [[nodiscard]] std::vector<std::string> files() const;
  [[nodiscard]] std::string test_name() const;  // letters, digits and underscores
  friend void PrintTo(const ReferenceCase& c, std::ostream* out) { *out << c.name; }
};

[[nodiscard]] std::vector<ReferenceCase> reference_cases();

}  // namespace pyrometer::testing
