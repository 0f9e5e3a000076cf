// A short result for people, without a look: a sentence, what it is about, tables, doubts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "output/report.h"
#include "output/sections.h"

namespace pyrometer::output {

struct Document {
  std::string title;                  // "Comparison"
  std::vector<std::string> warnings;  // before all else: what decides whether the rest means much
  std::string headline;               // one sentence
  std::vector<std::string> reasons;   // sentences under it
  std::vector<std::pair<std::string, std::string>> head;  // label and text, a line each
  std::vector<Section> sections;
  std::string code_title;  // of code to copy; empty: none
  std::string code;
  std::vector<std::string> notes;  // how far it may be believed
};

bool write_text_document(const Document& document, const TextStyle& style,
                         const base::TextSink& sink);
bool write_markdown_document(const Document& document, const base::TextSink& sink);

}  // namespace pyrometer::output
