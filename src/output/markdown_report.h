// The report for pull requests and issues, in Markdown.
#pragma once

#include "base/json_writer.h"
#include "output/report.h"

namespace pyrometer::output {

// The same content as the report for the terminal, in GitHub-flavoured Markdown; the tables and
// what is long stand in foldable sections. Of the style, only top_n and max_findings count.
bool write_markdown_report(const Report& report, const TextStyle& style,
                           const base::TextSink& sink);

}  // namespace pyrometer::output
