#include "output/bars.h"
#include "output/section_tools.h"
#include "output/words.h"

namespace pyrometer::output {
namespace {

// The markers of a recording's hook by what they mark.
std::string readable(std::string_view name) {
  constexpr std::string_view kIssue = "pyrometer.issue#";
  constexpr std::string_view kStart = "pyrometer.loader_start#";
  if (name == "pyrometer.loader_start#workers") return "starting loader workers";
  if (name.starts_with(kStart)) return "starting a loader";
  return std::string(name.starts_with(kIssue) ? name.substr(kIssue.size()) : name);
}

Section ops_table(const RankView& view, const SectionStyle& style, bool annotations) {
  std::vector<const model::OpRow*> rows;
  for (const model::OpRow& row : view.analysis.host.ops) {
    if (row.is_annotation == annotations) rows.push_back(&row);
  }
  Section section;
  section.title = titled(view, annotations ? "Annotations" : "Operators, by GPU time they launch");
  const std::size_t shown = shown_rows(rows.size(), style);
  double device = 0;
  double host = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    device = std::max(device, static_cast<double>(rows[i]->device_total));
    host = std::max(host, static_cast<double>(rows[i]->host_total));
  }
  const DurationUnit device_unit = column_unit(device);
  const DurationUnit host_unit = column_unit(host);
  section.table.columns = {symbol_column(annotations ? "annotation" : "operator"),
                           number_column("count", 1),
                           duration_column("GPU", device_unit),
                           duration_column("GPU self", device_unit, 4),
                           duration_column("host", host_unit),
                           duration_column("host self", host_unit, 3),
                           number_column("kernels", 2)};
  for (std::size_t i = 0; i < shown; ++i) {
    const model::OpRow& row = *rows[i];
    section.table.rows.push_back({readable(view.timeline.name(row.name)),
                                  format_count(static_cast<double>(row.count)),
                                  device_unit.format(static_cast<double>(row.device_total)),
                                  device_unit.format(static_cast<double>(row.device_self)),
                                  host_unit.format(static_cast<double>(row.host_total)),
                                  host_unit.format(static_cast<double>(row.host_self)),
                                  format_count(static_cast<double>(row.kernels))});
  }
  note_rest(section, shown, rows.size());
  return section;
}

void add_launch_lines(const model::LaunchStats& launch, const SectionStyle& style,
                      const std::string& label, Section& section) {
  const auto text = [](model::DurationNs ns) { return format_duration(static_cast<double>(ns)); };
  std::string line = label + format_count(static_cast<double>(launch.launches)) +
                     (launch.launches == 1 ? " launch" : " launches");
  if (launch.per_step > 0) line += " (" + format_count(launch.per_step) + " per step)";
  line += "; the queue is empty " + format_percent(launch.queue_empty_share) +
          " of the time and holds " + format_number(launch.queue_length_mean) +
          " on average, at most " + format_count(static_cast<double>(launch.queue_length_max)) +
          ".";
  section.lines.push_back(std::move(line));
  section.lines.push_back(
      "Launch to start: p50 " + text(launch.latency_p50) + ", p95 " + text(launch.latency_p95) +
      " into an empty queue; p50 " + text(launch.queue_delay_p50) +
      " over all. Kernels under 10 µs: " + format_percent(launch.short_kernel_share) + ".");
  if (launch.queue_curve.empty()) return;
  const double highest = *std::max_element(launch.queue_curve.begin(), launch.queue_curve.end());
  section.lines.push_back(
      "Queue over the window, up to " + format_number(highest) + ": " +
      sparkline(launch.queue_curve, highest, curve_width(style), style.unicode));
}

Section syncs_table(const RankView& view, const SectionStyle& style) {
  const auto& rows = view.analysis.host.syncs;
  Section section;
  section.title = titled(view, "Blocking calls, by GPU idle time behind them");
  section.note =
      "Blocked: host time inside; of it the GPU was busy (useful work) or idle. Idle after: from "
      "its "
      "end to the next work for the GPU.";
  const std::size_t shown = shown_rows(rows.size(), style);
  double largest = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    largest = std::max({largest, static_cast<double>(rows[i].blocked),
                        static_cast<double>(rows[i].drained_after)});
  }
  const DurationUnit unit = column_unit(largest);
  section.table.columns = {symbol_column("call"),
                           symbol_column("from"),
                           number_column("count", 1),
                           number_column("per step", 2),
                           duration_column("blocked", unit),
                           number_column("GPU busy", 4),
                           number_column("GPU idle", 3),
                           number_column("idle after")};
  for (std::size_t i = 0; i < shown; ++i) {
    const model::SyncRow& row = rows[i];
    const model::NameId from = row.python != 0    ? row.python
                               : row.leaf_op != 0 ? row.leaf_op
                               : row.op != 0      ? row.op
                                                  : row.annotation;
    const auto text = [&](model::DurationNs ns) { return unit.format(static_cast<double>(ns)); };
    section.table.rows.push_back({std::string(view.timeline.name(row.api)),
                                  from == 0 ? "–" : std::string(view.timeline.name(from)),
                                  format_count(static_cast<double>(row.count)),
                                  row.per_step > 0 ? format_count(row.per_step) : "–",
                                  text(row.blocked), text(row.waiting_busy), text(row.waiting_idle),
                                  text(row.drained_after)});
  }
  note_rest(section, shown, rows.size());
  return section;
}

}  // namespace

void add_operators(const Report& report, const SectionStyle& style, std::vector<Section>& out) {
  const RankView view = detail_view(report);
  out.push_back(ops_table(view, style, true));
  out.push_back(ops_table(view, style, false));
}

void add_launches(const Report& report, const SectionStyle& style, std::vector<Section>& out) {
  const RankView view = detail_view(report);
  Section launches;
  launches.title = titled(view, "Launches");
  const auto& devices = view.analysis.host.launch;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    if (devices[d].launches == 0) continue;
    const std::string label = devices.size() > 1 && d < view.timeline.devices.size()
                                  ? "GPU " + std::to_string(view.timeline.devices[d].ordinal) + ": "
                                  : "";
    add_launch_lines(devices[d], style, label, launches);
  }
  out.push_back(std::move(launches));
  out.push_back(syncs_table(view, style));
}

}  // namespace pyrometer::output
