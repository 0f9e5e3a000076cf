// Counters of what an importer dropped or mended. Every report shows the non-zero ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pyrometer::model {

enum class StatSeverity : std::uint8_t {
  kInfo,      // mended or passed over without loss (e.g. a stray comma)
  kDataLoss,  // something of the run is missing from the analysis
};

struct ImportCounter {
  std::string kind;  // stable id, e.g. "truncated_file", "negative_duration"
  StatSeverity severity = StatSeverity::kInfo;
  std::int64_t count = 0;
  std::int64_t first_offset = -1;  // byte in the (decompressed) file, -1 when it has none
  std::string help;                // one sentence for the report
};

class ImportStats {
 public:
  void add(std::string_view kind, StatSeverity severity, std::int64_t offset, std::string_view help,
           std::int64_t count = 1);
  void merge(const ImportStats& other);
  [[nodiscard]] const std::vector<ImportCounter>& counters() const { return counters_; }
  [[nodiscard]] bool lost_data() const;

 private:
  std::vector<ImportCounter> counters_;  // sorted by kind
};

}  // namespace pyrometer::model
