#include <fmt/format.h>

#include "output/bars.h"
#include "output/section_tools.h"
#include "output/words.h"

namespace pyrometer::output {
namespace {

std::string copy_name(const model::CopyRow& row) {
  if (row.is_memset) return "memset";
  std::string text(word_for(row.kind).name);
  if (row.host != model::HostMemory::kUnknown) {
    text += ", " + std::string(word_for(row.host).name);
  }
  return text;
}

std::string allocator_line(const model::AllocatorStats& allocator) {
  std::string text = count_of(allocator.malloc_calls, "device allocation call") + " and " +
                     count_of(allocator.free_calls, "free") + " in the window, " +
                     format_duration(static_cast<double>(allocator.time)) + " on the host";
  if (allocator.mallocs_per_step > 0 || allocator.frees_per_step > 0) {
    text += fmt::format("; per steady step {} and {}", format_count(allocator.mallocs_per_step),
                        format_count(allocator.frees_per_step));
  }
  return text + (allocator.every_step ? ", in every step." : ".");
}

// The largest level in each of `slices` equal parts of the curve's time; a part without an event
// keeps the level before it.
std::vector<double> levels_over_time(const model::MemoryCurve& curve, int slices) {
  std::vector<const model::MemoryPoint*> points;
  for (const model::MemoryPoint& point : curve.curve) {
    if (point.allocated >= 0) points.push_back(&point);
  }
  if (points.empty() || slices < 1) return {};
  const model::TimeNs begin = points.front()->time;
  const auto length = static_cast<double>(points.back()->time - begin) + 1;
  std::vector<double> levels;
  std::size_t next = 0;
  for (int slice = 1; slice <= slices; ++slice) {
    const double end = length * slice / slices;
    double level = levels.empty() ? 0 : static_cast<double>(points[next - 1]->allocated);
    for (; next < points.size() && static_cast<double>(points[next]->time - begin) < end; ++next) {
      level = std::max(level, static_cast<double>(points[next]->allocated));
    }
    levels.push_back(level);
  }
  return levels;
}

void add_curve(const model::MemoryCurve& curve, const std::string& label, const SectionStyle& style,
               Section& section) {
  const auto bytes = [](std::int64_t n) {
    return n < 0 ? std::string("?") : format_bytes(static_cast<double>(n));
  };
  std::string text = label + "peak " + bytes(curve.peak_allocated) + " allocated, " +
                     bytes(curve.peak_reserved) + " reserved";
  if (curve.total >= 0) text += ", of " + bytes(curve.total);
  constexpr double kTrend = 0.5;
  if (curve.growth_per_step > 0 && curve.growth_r >= kTrend) {
    text += "; grows by " + format_bytes(curve.growth_per_step) + " per step";
  }
  section.lines.push_back(sentence(text));
  const std::vector<double> allocated = levels_over_time(curve, curve_width(style));
  if (allocated.empty()) return;
  const double highest = *std::max_element(allocated.begin(), allocated.end());
  section.lines.push_back(label + "Allocated over the window, up to " + format_bytes(highest) +
                          ": " + sparkline(allocated, highest, curve_width(style), style.unicode));
}

}  // namespace

void add_transfers(const Report& report, const SectionStyle& style, std::vector<Section>& out) {
  const RankView view = detail_view(report);
  const auto& rows = view.analysis.transfers.copies;
  Section section;
  section.title = titled(view, "Copies");
  double largest = 0;
  for (const model::CopyRow& row : rows) {
    largest = std::max(largest, static_cast<double>(row.stats.total));
  }
  const DurationUnit unit = column_unit(largest);
  section.table.columns = {text_column("copy"),
                           number_column("count"),
                           number_column("< 64 KiB", 4),
                           duration_column("total", unit),
                           duration_column("exposed", unit, 1),
                           number_column("bytes", 2),
                           number_column("GB/s", 3)};
  const std::size_t shown = shown_rows(rows.size(), style);
  for (std::size_t i = 0; i < shown; ++i) {
    const model::CopyRow& row = rows[i];
    section.table.rows.push_back(
        {copy_name(row), format_count(static_cast<double>(row.stats.count)),
         format_count(static_cast<double>(row.small_count)),
         unit.format(static_cast<double>(row.stats.total)),
         unit.format(static_cast<double>(row.exposed)),
         row.bytes < 0 ? "?" : format_bytes(static_cast<double>(row.bytes)),
         row.bandwidth_gbs < 0 ? "?" : format_number(row.bandwidth_gbs)});
  }
  note_rest(section, shown, rows.size());
  out.push_back(std::move(section));
}

void add_memory(const Report& report, const SectionStyle& style, std::vector<Section>& out) {
  const RankView view = detail_view(report);
  const model::Transfers& transfers = view.analysis.transfers;
  Section section;
  section.title = titled(view, "Device memory");
  if (transfers.allocator.malloc_calls + transfers.allocator.free_calls > 0) {
    section.lines.push_back(allocator_line(transfers.allocator));
  }
  for (const model::MemoryCurve& curve : transfers.memory) {
    if (!curve.recorded) continue;
    const std::string label =
        transfers.memory.size() > 1 && curve.device < view.timeline.devices.size()
            ? "GPU " + std::to_string(view.timeline.devices[curve.device].ordinal) + ": "
            : "";
    add_curve(curve, label, style, section);
  }
  out.push_back(std::move(section));
}

void add_communication(const Report& report, const SectionStyle& style, std::vector<Section>& out) {
  const RankView view = detail_view(report);
  const model::CommTable& comm = view.analysis.comm;
  if (comm.rows.empty()) return;
  Section section;
  section.title = titled(view, "Communication");
  const bool skew_known = view.analysis.waterfall.skew_known;
  section.note = "In all " + format_duration(static_cast<double>(comm.total)) + ", exposed " +
                 format_duration(static_cast<double>(comm.exposed));
  if (comm.overlap >= 0) {
    section.note += ", overlapped with compute " + format_percent(comm.overlap);
  }
  double largest = 0;
  for (const model::CommRow& row : comm.rows) {
    largest = std::max(largest, static_cast<double>(row.stats.total));
  }
  const DurationUnit unit = column_unit(largest);
  section.table.columns = {
      text_column("collective"),      text_column("group", 5),        number_column("ranks", 6),
      number_column("per step", 2),   duration_column("total", unit), number_column("exposed"),
      number_column("overlapped", 4), number_column("waiting", 1),    number_column("bytes", 3)};
  const std::size_t shown = shown_rows(comm.rows.size(), style);
  for (std::size_t i = 0; i < shown; ++i) {
    const model::CommRow& row = comm.rows[i];
    const auto text = [&](model::DurationNs ns) { return unit.format(static_cast<double>(ns)); };
    section.table.rows.push_back(
        {row.collective, row.group.empty() ? "–" : row.group,
         row.group_size < 0 ? "?" : std::to_string(row.group_size),
         row.per_step > 0 ? format_count(row.per_step) : "–", text(row.stats.total),
         text(row.exposed), text(row.overlapped), skew_known ? text(row.skew) : "?",
         row.bytes < 0 ? "?" : format_bytes(static_cast<double>(row.bytes))});
  }
  note_rest(section, shown, comm.rows.size());
  out.push_back(std::move(section));
}

}  // namespace pyrometer::output
