#include <fmt/format.h>

#include "output/section_tools.h"
#include "output/words.h"

namespace pyrometer::output {
namespace {

std::string class_name(const model::ClassRow& row) {
  std::string text(word_for(row.klass).name);
  if (row.math != model::MathType::kUnknown) text += ", " + std::string(word_for(row.math).name);
  if (row.matrix_units == model::MatrixUnits::kYes) text += ", matrix units";
  if (row.matrix_units == model::MatrixUnits::kNo) text += ", no matrix units";
  return text;
}

std::string short_class_name(const model::KernelTraits& traits) {
  std::string text(word_for(traits.klass).id);
  if (traits.math != model::MathType::kUnknown) text += " " + std::string(word_for(traits.math).id);
  return text;
}

Section by_class(const RankView& view) {
  const model::KernelTable& kernels = view.analysis.kernels;
  Section section;
  section.title = titled(view, "Kernels by class");
  double largest = 0;
  for (const model::ClassRow& row : kernels.by_class) {
    largest = std::max(largest, static_cast<double>(row.stats.total));
  }
  const DurationUnit unit = column_unit(largest);
  section.table.columns = {text_column("class"), number_column("count", 1),
                           duration_column("total", unit), number_column("share"),
                           number_column("mean µs", 2)};
  for (const model::ClassRow& row : kernels.by_class) {
    section.table.rows.push_back(
        {class_name(row), format_count(static_cast<double>(row.stats.count)),
         unit.format(static_cast<double>(row.stats.total)), format_percent(row.share),
         fmt::format("{:.1f}", static_cast<double>(row.stats.mean) / 1e3)});
  }
  return section;
}

Section by_name(const RankView& view, const SectionStyle& style) {
  const auto& rows = view.analysis.kernels.by_name;
  Section section;
  section.title = titled(view, "Kernels by name");
  const std::size_t shown = shown_rows(rows.size(), style);
  double longest = 0;
  double largest = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    longest = std::max(longest, static_cast<double>(rows[i].stats.max));
    largest = std::max(largest, static_cast<double>(rows[i].stats.total));
  }
  const DurationUnit total = column_unit(largest);
  const DurationUnit fine = fine_unit(longest);
  section.table.columns = {
      symbol_column("kernel"),         text_column("class", 6),  number_column("count", 2),
      duration_column("total", total), number_column("share"),   duration_column("mean", fine, 3),
      number_column("p50", 9),         number_column("p95", 8),  number_column("max", 7),
      number_column("regs", 11),       number_column("occ.", 10)};
  for (std::size_t i = 0; i < shown; ++i) {
    const model::KernelRow& row = rows[i];
    const auto text = [&](model::DurationNs ns) { return fine.format(static_cast<double>(ns)); };
    section.table.rows.push_back(
        {std::string(view.timeline.name(row.name)), short_class_name(row.traits),
         format_count(static_cast<double>(row.stats.count)),
         total.format(static_cast<double>(row.stats.total)), format_percent(row.share),
         text(row.stats.mean), text(row.stats.p50), text(row.stats.p95), text(row.stats.max),
         row.registers < 0 ? "–" : std::to_string(row.registers),
         row.occupancy_pct < 0 ? "–"
                               : fmt::format("{:.0f}%", static_cast<double>(row.occupancy_pct))});
  }
  note_rest(section, shown, rows.size());
  return section;
}

}  // namespace

void add_kernels(const Report& report, const SectionStyle& style, std::vector<Section>& out) {
  const RankView view = detail_view(report);
  out.push_back(by_class(view));
  out.push_back(by_name(view, style));
}

}  // namespace pyrometer::output
