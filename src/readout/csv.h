// Snapshots as rows: one for each GPU and MIG instance.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "readout/fields.h"
#include "readout/snapshot.h"

namespace pyrometer::readout {

struct SmiStyle {
  bool header = true;
  bool units = true;  // behind the numbers; in the header they stand in any case
};

// What `nvidia-smi --format` takes: "csv", "csv,noheader", "csv,noheader,nounits". Returns what is
// wrong with it, as a clause that follows the quoted text, or "".
[[nodiscard]] std::string parse_smi_format(std::string_view text, SmiStyle& style);

// As nvidia-smi writes them: ", " between the values, no quotes, "[N/A]" where one is missing.
[[nodiscard]] std::string smi_header(const std::vector<Field>& fields);
[[nodiscard]] std::string smi_rows(const std::vector<Field>& fields, const Snapshot& snapshot,
                                   SmiStyle style);

// As RFC 4180 has it: quotes where they are needed, an empty cell where a value is missing. The
// first two columns are time and host; the header holds names alone.
[[nodiscard]] std::string csv_header(const std::vector<Field>& fields);
[[nodiscard]] std::string csv_rows(const std::vector<Field>& fields, const Snapshot& snapshot);
// What they show if nothing else is asked for.
[[nodiscard]] std::vector<Field> default_csv_fields();

}  // namespace pyrometer::readout
