// The whole run, of a recording.
#include <algorithm>

#include "model/host_lines.h"
#include "model/run_totals.h"
#include "output/json_parts.h"
#include "output/overrides_section.h"

namespace pyrometer::output {
namespace {

using base::JsonLayout;
using base::JsonWriter;

template <typename Value>
std::optional<Value> only_if(bool known, Value value) {
  return known ? std::optional<Value>(value) : std::nullopt;
}

std::optional<double> share_of(model::DurationNs part, model::DurationNs whole) {
  if (whole <= 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

void write_host_time(JsonWriter& json, const model::RunTotals& all) {
  json.begin_object();
  for (std::size_t i = 0; i < model::kHostTimeKinds.size(); ++i) {
    json.key(model::kHostTimeKinds[i]);
    const std::optional<model::HostTime>& time = all.host[i];
    if (!time) {
      json.null();
      continue;
    }
    json.begin_object(JsonLayout::kInline);
    json.member("count", if_known(time->count));
    json.member("total_ns", time->total);
    json.member("longest_ns", if_known(time->longest));
    json.member("of_run", share_of(time->total, all.wall));
    json.end_object();
  }
  json.end_object();
}

void write_overhead(JsonWriter& json, const model::OverheadEstimate& overhead,
                    const model::RunTotals& all) {
  const bool known = all.cost.has_value();
  json.begin_object();
  json.member("ratio", only_if(known, overhead.ratio));
  json.member("low", only_if(known, overhead.low));
  json.member("high", only_if(known, overhead.high));
  json.member("comparisons", only_if(known, overhead.windows));
  json.member("duty", only_if(all.used_device, overhead.duty));
  json.member("switching", only_if(known, overhead.switching));
  json.member("of_run", all.cost);
  json.member("missing", if_given(known             ? std::string_view{}
                                  : all.used_device ? std::string_view(overhead.why_not)
                                                    : "no GPU was used"));
  json.end_object();
}

void write_host_lines(JsonWriter& json, const model::RecordedRun& run) {
  constexpr std::size_t kMost = 100;
  const std::vector<model::HostLine> lines = model::host_lines_of(run);
  json.key("host_lines");
  json.begin_array();
  for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i) {
    json.begin_object(JsonLayout::kInline);
    json.member("phase", lines[i].phase);
    json.member("line", lines[i].line);
    json.member("innermost", lines[i].innermost);
    json.member("samples", lines[i].samples);
    json.member("share", lines[i].share);
    json.end_object();
  }
  json.end_array();
  json.member("host_lines_missing", if_given(model::why_no_host_lines(run)));
}

void write_blocking_lines(JsonWriter& json, const model::RecordedRun& run) {
  constexpr std::size_t kMost = 100;
  json.key("blocking_lines");
  json.begin_array();
  for (std::size_t i = 0; i < std::min(run.blocking_lines.size(), kMost); ++i) {
    const model::BlockingLine& call = run.blocking_lines[i];
    json.begin_object(JsonLayout::kInline);
    json.member("call", call.call);
    json.member("line", call.line);
    json.member("count", call.count);
    json.member("total_ns", call.total);
    json.member("longest_ns", call.longest);
    json.end_object();
  }
  json.end_array();
}

void write_overrides(JsonWriter& json, const model::RecordedRun& run) {
  json.key("overrides");
  json.begin_array();
  for (const OverrideWord& word : overrides_of(run)) {
    json.begin_object(JsonLayout::kInline);
    json.member("id", word.id);
    json.member("state", word.state);
    json.member("text", word.text);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_run_json(JsonWriter& json, const model::RecordedRun* run) {
  if (run == nullptr) return json.null();
  const model::RunTotals all = model::totals_of(*run);
  const bool exited = run->ended && run->exit_signal == 0 && run->exit_code >= 0;
  json.begin_object();
  json.member("wall_ns", all.wall);
  json.member("ended", run->ended);
  json.member("exit_code", only_if(exited, run->exit_code));
  json.member("exit_signal", only_if(run->ended && run->exit_signal != 0, run->exit_signal));
  json.member("steps", all.steps);
  json.member("step_time_ns", only_if(all.steps > 0, all.step_time));
  json.member("samples_per_s", all.samples_per_s);
  json.member("watched_steps", only_if(all.used_device, all.watched_steps));
  json.member("watched_ns", only_if(all.used_device, all.watched_time));
  json.member("kept_ns", only_if(run->kept > 0, run->kept));
  json.member("before_first_step_ns", all.before_first_step);
  json.member("after_last_step_ns", all.after_last_step);
  json.key("host_time");
  write_host_time(json, all);
  json.key("overhead");
  write_overhead(json, run->overhead, all);
  json.member("monitor_cpu_share", all.monitor_share);
  write_host_lines(json, *run);
  write_blocking_lines(json, *run);
  write_overrides(json, *run);
  json.end_object();
}

}  // namespace pyrometer::output
