// Escaping for XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace pyrometer::output {

// Text as it stands in XML 1.0 and HTML, also in attributes. What must not stand there is left out.
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace pyrometer::output
