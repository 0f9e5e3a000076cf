// The tables of a report, without a look: shown on a terminal with -v, and in Markdown.
#pragma once

#include <string>
#include <vector>

#include "output/report.h"
#include "output/table.h"

namespace pyrometer::output {

struct Section {
  std::string title;
  std::string note;                // a sentence under the title; may be empty
  Table table;                     // may be without rows
  std::vector<std::string> lines;  // under the table: a sentence or a curve each
  std::vector<std::string> plot;   // lines that stand as they are, under each other

  [[nodiscard]] bool empty() const { return table.rows.empty() && lines.empty() && plot.empty(); }
};

struct SectionStyle {
  int top_n = 10;  // rows of tables sorted by weight
  bool unicode = true;
  int width = 100;  // of the page, for what is not a table
};

// How the ranks compare; empty with one rank. At most `most` rows: the slowest by step time.
[[nodiscard]] Section ranks_section(const Report& report, std::size_t most);

// All other tables that hold something, in the order of the report. Tables about one rank show
// detail_rank().
[[nodiscard]] std::vector<Section> detail_sections(const Report& report, const SectionStyle& style);

// The parts of it, by subject.
void add_rank_waterfalls(const Report& report, const SectionStyle& style,
                         std::vector<Section>& out);
void add_steps(const Report& report, const SectionStyle& style, std::vector<Section>& out);
void add_input(const Report& report, std::vector<Section>& out);
void add_kernels(const Report& report, const SectionStyle& style, std::vector<Section>& out);
void add_operators(const Report& report, const SectionStyle& style, std::vector<Section>& out);
void add_launches(const Report& report, const SectionStyle& style, std::vector<Section>& out);
void add_transfers(const Report& report, const SectionStyle& style, std::vector<Section>& out);
void add_memory(const Report& report, const SectionStyle& style, std::vector<Section>& out);
void add_communication(const Report& report, const SectionStyle& style, std::vector<Section>& out);
void add_patterns(const Report& report, const SectionStyle& style, std::vector<Section>& out);

}  // namespace pyrometer::output
