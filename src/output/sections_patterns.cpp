#include "output/section_tools.h"
#include "output/words.h"

namespace pyrometer::output {
namespace {

Section sequences(const RankView& view, const SectionStyle& style) {
  const auto& rows = view.analysis.patterns.sequences;
  Section section;
  section.title = titled(view, "Repeated runs of small kernels");
  section.note = "Candidates for fusion (torch.compile) or a CUDA graph.";
  const std::size_t shown = shown_rows(rows.size(), style);
  double largest = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    largest = std::max(largest, static_cast<double>(rows[i].span_total));
  }
  const DurationUnit unit = column_unit(largest);
  section.table.columns = {symbol_column("begins with"), number_column("kernels"),
                           number_column("times"), duration_column("span", unit),
                           duration_column("GPU", unit, 1)};
  for (std::size_t i = 0; i < shown; ++i) {
    const model::RepeatedSequence& row = rows[i];
    if (row.kernels.empty()) continue;
    section.table.rows.push_back({std::string(view.timeline.name(row.kernels.front())),
                                  std::to_string(row.kernels.size()),
                                  format_count(static_cast<double>(row.count)),
                                  unit.format(static_cast<double>(row.span_total)),
                                  unit.format(static_cast<double>(row.device_total))});
  }
  note_rest(section, shown, rows.size());
  if (rows.empty()) return section;
  if (view.analysis.patterns.same_sequence_every_step) {
    section.lines.emplace_back(
        "Every step launches the same kernels in the same order: it can be captured as a graph.");
  }
  return section;
}

Section critical_path(const RankView& view, const SectionStyle& style) {
  const model::CriticalPath& path = view.analysis.patterns.critical_path;
  Section section;
  const auto& steps = view.analysis.steps.steps;
  if (path.step >= steps.size() || path.summary.empty()) return section;
  const model::Step& step = steps[path.step];
  section.title = titled(view, "Critical path of step " + std::to_string(step.number));
  section.note = "What the length of this typical step (" +
                 format_duration(static_cast<double>(step.span.length())) + ") is made of.";
  const DurationUnit unit = column_unit(static_cast<double>(path.summary.front().total));
  section.table.columns = {text_column("kind"), symbol_column("what"), duration_column("", unit),
                           number_column("share")};
  const std::size_t shown = shown_rows(path.summary.size(), style);
  for (std::size_t i = 0; i < shown; ++i) {
    const model::CriticalPath::Row& row = path.summary[i];
    section.table.rows.push_back(
        {std::string(word_for(row.kind).name),
         row.name == 0 ? "–" : std::string(view.timeline.name(row.name)),
         unit.format(static_cast<double>(row.total)),
         format_percent(static_cast<double>(row.total) / static_cast<double>(step.span.length()))});
  }
  note_rest(section, shown, path.summary.size());
  return section;
}

}  // namespace

void add_patterns(const Report& report, const SectionStyle& style, std::vector<Section>& out) {
  const RankView view = detail_view(report);
  out.push_back(sequences(view, style));
  out.push_back(critical_path(view, style));
}

}  // namespace pyrometer::output
