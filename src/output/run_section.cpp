#include "output/run_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "model/run.h"
#include "output/section_tools.h"

namespace pyrometer::output {
namespace {

using model::DurationNs;
using model::RecordedRun;
using model::RecordedStep;

struct Totals {
  std::int64_t steps = 0, watched_steps = 0;
  DurationNs step_time = 0, watched_time = 0;  // of one device each
  std::int64_t samples = 0;
  bool samples_known = true;
  DurationNs input_wait = 0;
  model::TimeNs first = 0, last = 0;  // of the steps
  model::CauseTimes causes{};         // of watched steps, all devices
};

Totals totals_of(const RecordedRun& run) {
  Totals all;
  model::TimeNs counted_until = 0;
  for (const RecordedStep& step : run.steps) {
    if (step.count == 0) continue;
    for (std::size_t i = 0; i < model::kCauseCount && step.captured; ++i) {
      all.causes[i] += step.causes[i];
    }
    if (step.span.start < counted_until) continue;  // another device of the same step
    counted_until = step.span.end;
    if (all.steps == 0) all.first = step.span.start;
    all.last = step.span.end;
    all.steps += step.count;
    all.step_time += step.span.length();
    all.input_wait += step.input_wait;
    all.samples_known = all.samples_known && step.samples >= 0;
    all.samples += std::max<std::int64_t>(0, step.samples);
    if (step.captured) {
      all.watched_steps += step.count;
      all.watched_time += step.span.length();
    }
  }
  return all;
}

std::string span_text(DurationNs time) { return format_duration(static_cast<double>(time)); }

std::string how_it_ended(const RecordedRun& run) {
  if (!run.ended) return "still running, or the recorder was stopped";
  if (run.exit_signal != 0) return fmt::format("the command ended by signal {}", run.exit_signal);
  return fmt::format("the command ended with exit code {}", run.exit_code);
}

std::string overhead_line(const model::OverheadEstimate& o) {
  if (!o.measured) return "Cost of watching the GPU: not measured, " + o.why_not + ".";
  const auto percent = [](double ratio) { return fmt::format("{:.2f}%", 100 * ratio); };
  return fmt::format(
      "Cost of watching the GPU: {} of a watched step (95% interval {} to {}, {} comparisons "
      "within the run); {} of the steps' time was watched, which makes {} of the run.",
      percent(o.ratio), percent(o.low), percent(o.high), o.windows, format_percent(o.duty),
      percent(o.ratio * o.duty));
}

const RecordedRun* shown_run(const Report& report) {
  const model::Index rank = detail_rank(report);
  return rank == model::kNone ? nullptr : report.timeline.ranks[rank].run.get();
}

std::string step_line(const RecordedRun& run, const Totals& all) {
  if (all.steps == 0) return "No training steps were marked.";
  std::string text = fmt::format("{} in {}", count_of(all.steps, "step"), span_text(all.step_time));
  if (all.samples_known && all.samples > 0 && all.step_time > 0) {
    text += fmt::format(", {} samples/s", format_number(static_cast<double>(all.samples) * 1e9 /
                                                        static_cast<double>(all.step_time)));
  }
  if (all.watched_steps > 0) {
    text += fmt::format("; the GPU was watched in {} of them", all.watched_steps);
  }
  if (run.kept > 0) text += fmt::format("; all events are kept of {}", span_text(run.kept));
  return text + ".";
}

void add_pauses(const RecordedRun& run, const Totals& all, Section& section) {
  struct Word {
    const char* kind;
    const char* text;
  };
  constexpr std::array<Word, 6> kWords = {{{"checkpoint", "checkpoints"},
                                           {"validation", "validation"},
                                           {"compile", "compilation"},
                                           {"gc", "garbage collection"},
                                           {"logging", "logging"},
                                           {"loader_start", "starting loaders"}}};
  for (const Word& word : kWords) {
    const auto found =
        std::find_if(run.regions.begin(), run.regions.end(),
                     [&word](const model::RegionTotal& r) { return r.kind == word.kind; });
    if (found == run.regions.end() || found->count == 0) continue;
    std::string share;
    if (all.step_time > 0) {
      share =
          format_percent(static_cast<double>(found->total) / static_cast<double>(all.step_time));
    }
    section.table.rows.push_back({word.text, std::to_string(found->count), span_text(found->total),
                                  span_text(found->longest), share});
  }
  if (all.input_wait > 0 && all.step_time > 0) {
    section.table.rows.push_back(
        {"waiting for data", "", span_text(all.input_wait), "",
         format_percent(static_cast<double>(all.input_wait) / static_cast<double>(all.step_time))});
  }
  if (!section.table.rows.empty()) {
    section.table.columns = {text_column("host time in"), number_column("times"),
                             number_column("total"), number_column("longest"),
                             number_column("of steps")};
  }
}

}  // namespace

Section run_section(const Report& report) {
  Section section;
  const RecordedRun* run = shown_run(report);
  if (run == nullptr) return section;
  const Totals all = totals_of(*run);
  section.title = titled(detail_view(report), "The whole run");
  section.note = fmt::format("{}, {}.", span_text(run->span.length()), how_it_ended(*run));
  section.lines.push_back(step_line(*run, all));
  if (all.steps > 0 && run->span.start > 0) {
    section.lines.push_back(fmt::format("Before the first step {}, after the last one {}.",
                                        span_text(all.first - run->span.start),
                                        span_text(run->span.end - all.last)));
  }
  add_pauses(*run, all, section);
  const bool has_device = std::any_of(run->steps.begin(), run->steps.end(),
                                      [](const RecordedStep& s) { return s.captured; });
  if (has_device) section.lines.push_back(overhead_line(run->overhead));
  if (run->overhead.monitor_cpu > 0 && run->span.length() > 0) {
    section.lines.push_back(
        fmt::format("The recorder itself used {} of one core.",
                    format_percent(static_cast<double>(run->overhead.monitor_cpu) /
                                   static_cast<double>(run->span.length()))));
  }
  return section;
}

Section run_waterfall_section(const Report& report) {
  Section section;
  const RecordedRun* run = shown_run(report);
  if (run == nullptr) return section;
  const Totals all = totals_of(*run);
  const auto whole = static_cast<double>(model::total(all.causes));
  if (whole <= 0) return section;
  section.title = titled(detail_view(report), "Over all watched steps of the run");
  section.table.columns = {text_column("cause"), number_column("time"), number_column("share")};
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    if (all.causes[i] == 0) continue;
    section.table.rows.push_back({std::string(model::cause_info(static_cast<model::Cause>(i)).id),
                                  span_text(all.causes[i]),
                                  format_percent(static_cast<double>(all.causes[i]) / whole)});
  }
  return section;
}

}  // namespace pyrometer::output
