// Pieces of Markdown. Nothing of a trace's names can make links, mentions or markup through these.
#pragma once

#include <string>
#include <string_view>

#include "output/sections.h"
#include "output/table.h"

namespace pyrometer::output {

// Text with everything that Markdown or HTML would act on taken literally.
[[nodiscard]] std::string markdown_text(std::string_view text);

// A name as code.
[[nodiscard]] std::string markdown_name(std::string_view text);

// A block of Python.
[[nodiscard]] std::string markdown_code(std::string_view code);

[[nodiscard]] std::string markdown_table(const Table& table);
// Without its title.
[[nodiscard]] std::string markdown_section(const Section& section);

// `content`, which is Markdown, under a title that opens it.
[[nodiscard]] std::string markdown_folded(const std::string& title, const std::string& content);

}  // namespace pyrometer::output
