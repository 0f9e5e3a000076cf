#include "readout/csv.h"

#include <algorithm>

#include "readout/time_text.h"

namespace pyrometer::readout {
namespace {

// A line break in a name must not begin a row.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

// Units that are words explain a number in the header; behind it they would only stand in the way.
bool has_sign(std::string_view unit) {
  return !unit.empty() && unit != "fraction" && unit != "count" && unit != "mask";
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) cell.append(c == '"' ? 2 : 1, c);
  return cell + '"';
}

}  // namespace

std::string parse_smi_format(std::string_view text, SmiStyle& style) {
  style = {};
  bool is_csv = false;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    while (word.starts_with(' ')) word.remove_prefix(1);
    if (word == "csv") {
      is_csv = true;
    } else if (word == "noheader") {
      style.header = false;
    } else if (word == "nounits") {
      style.units = false;
    } else {
      return "is not csv, with ,noheader and ,nounits where wanted";
    }
  }
  return is_csv ? "" : "lacks csv, as in csv,noheader,nounits";
}

std::string smi_header(const std::vector<Field>& fields) {
  std::string row;
  for (const Field& field : fields) {
    if (!row.empty()) row += ", ";
    row += field.header;
    if (!field.unit.empty()) row.append(" [").append(field.unit).append("]");
  }
  return row + '\n';
}

std::string smi_rows(const std::vector<Field>& fields, const Snapshot& snapshot, SmiStyle style) {
  std::string rows;
  for (const Device& device : snapshot.devices) {
    bool is_first = true;
    for (const Field& field : fields) {
      if (!is_first) rows += ", ";
      is_first = false;
      const auto text = field_text(field, device, snapshot);
      rows += text ? on_one_line(*text) : "[N/A]";
      if (text && style.units && has_sign(field.unit)) rows.append(" ").append(field.unit);
    }
    rows += '\n';
  }
  return rows;
}

std::vector<Field> default_csv_fields() {
  constexpr std::string_view kNames[] = {"gpu.index",         "gpu.uuid",         "gpu.name",
                                         "gpu.pci_id",        "gpu.temperature",  "gpu.fan",
                                         "gpu.util",          "gpu.util_memory",  "gpu.memory_used",
                                         "gpu.memory_total",  "gpu.power",        "gpu.power_limit",
                                         "gpu.clock_sm",      "gpu.clock_memory", "gpu.pstate",
                                         "gpu.throttle_mask", "gpu.processes",    "gpu.lost"};
  std::vector<Field> fields;
  for (const std::string_view name : kNames) fields.push_back(*find_field(name));
  return fields;
}

std::string csv_header(const std::vector<Field>& fields) {
  std::string row = "time,host";
  for (const Field& field : fields) row.append(",").append(field.name);
  return row + '\n';
}

std::string csv_rows(const std::vector<Field>& fields, const Snapshot& snapshot) {
  std::string rows;
  for (const Device& device : snapshot.devices) {
    rows += utc_text(snapshot.unix_ms) + ',' + quoted(snapshot.host);
    for (const Field& field : fields) {
      rows += ',' + quoted(on_one_line(field_text(field, device, snapshot).value_or("")));
    }
    rows += '\n';
  }
  return rows;
}

}  // namespace pyrometer::readout
