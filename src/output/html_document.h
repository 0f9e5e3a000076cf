// A short result as a page that stands alone.
#pragma once

#include <string>

#include "base/json_writer.h"
#include "output/document.h"

namespace pyrometer::output {

// `image`: an <svg> element that stands after the sentences; may be empty. Plots of text are left
// out then.
bool write_html_document(const Document& document, const std::string& image,
                         const base::TextSink& sink);

}  // namespace pyrometer::output
