#include "output/registry.h"

#include <algorithm>

#include "output/json_report.h"
#include "output/markdown_report.h"
#include "output/text_report.h"

namespace pyrometer::output {

const std::vector<Format>& all_formats() {
  static const std::vector<Format> formats = {
      {"text", "a report for the terminal", write_text_report},
      {"json", "everything that was found, for programs; schema pyrometer.report/1",
       write_json_report},
      {"md", "a report for pull requests and issues, in Markdown", write_markdown_report},
  };
  return formats;
}

const Format* find_format(std::string_view name) {
  const std::vector<Format>& formats = all_formats();
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const Format& format) { return format.name == name; });
  return found == formats.end() ? nullptr : &*found;
}

std::string render(const Format& format, const Report& report, const TextStyle& style) {
  std::string text;
  format.write(report, style, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  return text;
}

}  // namespace pyrometer::output
