// Parts of the report for the terminal.
#pragma once

#include "output/page.h"
#include "output/report.h"

namespace pyrometer::output {

void write_waterfall(Page& page, const Report& report);
void write_findings(Page& page, const Report& report, const TextStyle& style);

}  // namespace pyrometer::output
