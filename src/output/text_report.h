// The report for the terminal.
#pragma once

#include "base/json_writer.h"
#include "output/report.h"

namespace pyrometer::output {

// Verdict, what was analysed, the waterfall, the findings with predictions and fixes, what was not
// judged; with style.verbose all tables. Ends with a newline.
bool write_text_report(const Report& report, const TextStyle& style, const base::TextSink& sink);

}  // namespace pyrometer::output
