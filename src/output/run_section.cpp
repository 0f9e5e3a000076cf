#include "output/run_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/host_lines.h"
#include "model/run_totals.h"
#include "output/section_tools.h"

namespace pyrometer::output {
namespace {

using model::DurationNs;
using model::RecordedRun;
using model::RunTotals;

std::string span_text(DurationNs time) { return format_duration(static_cast<double>(time)); }

std::string how_it_ended(const RecordedRun& run) {
  if (!run.ended) return "still running, or the recorder was stopped";
  if (run.exit_signal != 0) return fmt::format("the command ended by signal {}", run.exit_signal);
  return fmt::format("the command ended with exit code {}", run.exit_code);
}

std::string overhead_line(const model::OverheadEstimate& o, const RunTotals& all) {
  if (!all.cost) return "Cost of watching the GPU: not measured; " + o.why_not + ".";
  const auto percent = [](double ratio) { return fmt::format("{:.2f}%", 100 * ratio); };
  return fmt::format(
      "Cost of watching the GPU, measured: {} of the run. Watched steps take {} longer (95% "
      "interval "
      "{} to {}, from {} within the run), {} of the steps' time was watched, and turning it on and "
      "off cost {}.",
      percent(*all.cost), percent(o.ratio), percent(o.low), percent(o.high),
      count_of(o.windows, "comparison"), format_percent(o.duty), percent(o.switching));
}

const RecordedRun* shown_run(const Report& report) {
  const model::Index rank = detail_rank(report);
  return rank == model::kNone ? nullptr : report.timeline.ranks[rank].run.get();
}

std::string step_line(const RunTotals& all) {
  if (all.steps == 0) return "No training steps were marked.";
  std::string text = fmt::format("{} in {}", count_of(all.steps, "step"), span_text(all.step_time));
  if (all.samples_per_s) text += fmt::format(", {} samples/s", format_number(*all.samples_per_s));
  if (all.used_device) {
    const bool every = all.watched_steps == all.steps;
    text += "; the GPU was watched in " +
            (every ? "all" : format_count(static_cast<double>(all.watched_steps))) + " of them";
  }
  return text + ".";
}

// What the rest of the report is of.
std::string kept_line(const RecordedRun& run) {
  if (run.kept <= 0) return "";
  const DurationNs whole = run.span.length();
  return fmt::format(
      "Every event was kept for {} of the {}: shares, tables and findings are of that.",
      span_text(std::min(run.kept, whole)), span_text(whole));
}

std::string_view title_of(std::string_view kind) {
  constexpr std::array<std::string_view, model::kHostTimeKinds.size()> kTitles = {
      "waiting for data", "starting loaders",   "checkpoints", "validation",
      "compilation",      "garbage collection", "logging"};
  const auto* const at =
      std::find(model::kHostTimeKinds.begin(), model::kHostTimeKinds.end(), kind);
  return kTitles[static_cast<std::size_t>(at - model::kHostTimeKinds.begin())];
}

void add_pauses(const RunTotals& all, Section& section) {
  for (const std::optional<model::HostTime>& time : all.host) {
    if (!time) continue;
    std::string share;
    if (all.wall > 0) {
      share = format_percent(static_cast<double>(time->total) / static_cast<double>(all.wall));
    }
    section.table.rows.push_back(
        {std::string(title_of(time->kind)),
         time->count < 0 ? "" : format_count(static_cast<double>(time->count)),
         span_text(time->total), time->longest < 0 ? "" : span_text(time->longest), share});
  }
  const std::size_t rows = section.table.rows.size();
  if (rows == 0) return;
  section.table.columns = {text_column("host time in"), number_column("times", 2),
                           number_column("total"), number_column("longest", 1),
                           number_column("of the run")};
  if (rows > 1) {
    section.lines.emplace_back(
        "One may happen inside another: waiting for data within validation counts as both.");
  }
}

}  // namespace

Section run_section(const Report& report) {
  Section section;
  const RecordedRun* run = shown_run(report);
  if (run == nullptr) return section;
  const RunTotals all = model::totals_of(*run);
  section.title = titled(detail_view(report), "The whole run");
  section.note = fmt::format("{}, {}. {}", span_text(all.wall), how_it_ended(*run), step_line(all));
  add_pauses(all, section);
  if (all.before_first_step && all.after_last_step) {
    section.lines.push_back(fmt::format("Before the first step {}, after the last one {}.",
                                        span_text(*all.before_first_step),
                                        span_text(*all.after_last_step)));
  }
  if (const std::string kept = kept_line(*run); !kept.empty()) section.lines.push_back(kept);
  if (all.used_device) section.lines.push_back(overhead_line(run->overhead, all));
  if (all.monitor_share) {
    section.lines.push_back(fmt::format("The recorder's own process used {} of one core.",
                                        format_percent(*all.monitor_share)));
  }
  return section;
}

Section run_waterfall_section(const Report& report) {
  Section section;
  const RecordedRun* run = shown_run(report);
  if (run == nullptr) return section;
  const RunTotals all = model::totals_of(*run);
  const auto whole = static_cast<double>(model::total(all.causes));
  if (whole <= 0) return section;
  section.title = titled(detail_view(report), "Over all watched steps of the run");
  section.table.columns = {text_column("cause"), number_column("time"), number_column("share")};
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    if (all.causes[i] == 0) continue;
    section.table.rows.push_back(
        {std::string(model::cause_info(static_cast<model::Cause>(i)).title),
         span_text(all.causes[i]), format_percent(static_cast<double>(all.causes[i]) / whole)});
  }
  return section;
}

Section host_lines_section(const Report& report) {
  Section section;
  const RecordedRun* run = shown_run(report);
  if (run == nullptr) return section;
  const std::vector<model::HostLine> lines = model::host_lines_of(*run);
  if (lines.empty() && run->info.contains("hook.sampler")) {
    section.title = titled(detail_view(report), "Where the training thread was");
    section.lines.push_back("Not known: " + model::why_no_host_lines(*run) + ".");
  }
  if (lines.empty()) return section;
  std::int64_t samples = 0;
  for (const model::HostLine& line : lines) samples += line.samples;
  section.title = titled(detail_view(report), "Where the training thread was");
  section.note =
      fmt::format("{} of its Python stack, some twenty a second.", count_of(samples, "sample"));
  section.table.columns = {text_column("while in"), text_column("line of the program"),
                           text_column("innermost line"), number_column("share")};
  for (const model::HostLine& line : lines) {
    section.table.rows.push_back(
        {line.phase, line.line, line.innermost, format_percent(line.share)});
  }
  return section;
}

Section blocking_lines_section(const Report& report) {
  constexpr std::size_t kMost = 20;
  Section section;
  const RecordedRun* run = shown_run(report);
  if (run == nullptr || run->blocking_lines.empty()) return section;
  double total = 0;
  for (const model::BlockingLine& call : run->blocking_lines) {
    total += static_cast<double>(call.total);
  }
  section.title = titled(detail_view(report), "Calls that wait for the GPU");
  section.note = "Named now and then, for some steps.";
  section.table.columns = {text_column("line of the program"),
                           text_column("call"),
                           number_column("calls"),
                           number_column("mean"),
                           number_column("longest"),
                           number_column("share")};
  for (std::size_t i = 0; i < std::min(run->blocking_lines.size(), kMost); ++i) {
    const model::BlockingLine& call = run->blocking_lines[i];
    section.table.rows.push_back(
        {call.line, call.call, format_count(static_cast<double>(call.count)),
         span_text(call.total / call.count), span_text(call.longest),
         format_percent(total > 0 ? static_cast<double>(call.total) / total : 0)});
  }
  return section;
}

}  // namespace pyrometer::output
