#include "output/xml_text.h"

#include "output/display.h"

namespace pyrometer::output {

std::string xml_text(std::string_view text) {
  std::string out;
  // Control characters and broken UTF-8 are replaced there.
  for (const char c : printable(text, true)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace pyrometer::output
