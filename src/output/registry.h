// The formats a report can be written in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "output/report.h"

namespace pyrometer::output {

struct Format {
  std::string_view name;  // "text"
  std::string_view help;  // one clause, for the help of the command line
  // Writes the whole report to the sink in pieces; stops early, returning false, when the sink
  // refuses a piece. The style is for formats meant for people; others look at nothing in it.
  bool (*write)(const Report&, const TextStyle&, const base::TextSink&);
};

[[nodiscard]] const std::vector<Format>& all_formats();

// The format of that name, null when there is none.
[[nodiscard]] const Format* find_format(std::string_view name);

// The whole report as one string.
[[nodiscard]] std::string render(const Format& format, const Report& report,
                                 const TextStyle& style);

}  // namespace pyrometer::output
