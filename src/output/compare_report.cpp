#include "output/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "cost/price.h"
#include "model/generated/causes.h"
#include "output/change_words.h"
#include "output/json_interval.h"
#include "output/json_parts.h"
#include "output/section_tools.h"
#include "output/summary.h"
#include "output/words.h"

namespace pyrometer::output {
namespace {

using verify::Change;
using verify::Comparison;

constexpr double kSecond = 1e9;

std::string list_of(const std::vector<std::string>& labels) {
  constexpr std::size_t kMost = 4;
  std::string out;
  for (std::size_t i = 0; i < std::min(labels.size(), kMost); ++i) {
    out += (i > 0 ? ", " : "") + labels[i];
  }
  if (labels.size() > kMost) out += fmt::format(" and {} more", labels.size() - kMost);
  return out;
}

std::string describe_side(const verify::Side& side) {
  std::string out =
      list_of(side.labels) + " · " + count_of(static_cast<std::int64_t>(side.gpus.size()), "GPU");
  if (!side.gpus.empty() && !side.gpus.front().empty()) out += " (" + side.gpus.front() + ")";
  out += " · " + count_of(side.steps, "step");
  if (side.warm_up_steps > 0) {
    out +=
        fmt::format(" after {} of warm-up", format_count(static_cast<double>(side.warm_up_steps)));
  }
  return out;
}

void add_row(Table& table, const std::string& name, const Change& change,
             const std::function<std::string(double)>& text) {
  if (!change.known()) {
    table.rows.push_back({name, "–", "–", "–", "–"});
    return;
  }
  const bool has_ratio = change.a > 0;
  table.rows.push_back({name, text(change.a), text(change.b),
                        has_ratio ? format_change(change.ratio.value) : "–",
                        has_ratio ? format_change_range(change.ratio) : "–"});
}

cost::Price price_of(const verify::Side& side) {
  return {.usd_per_gpu_hour = *side.usd_per_gpu_hour, .source = ""};
}

Section figures_section(const Comparison& c) {
  Section out{.title = "What changed"};
  out.table.columns = {text_column(""), number_column("A"), number_column("B"),
                       number_column("change"), number_column("95% interval")};
  const auto duration = [](double ns) { return format_duration(ns); };
  add_row(out.table, "time per step", c.step, duration);
  if (c.sample.known()) {
    add_row(out.table, "time per sample", c.sample, duration);
    Change rate;
    rate.a = kSecond / c.sample.a;
    rate.b = kSecond / c.sample.b;
    rate.ratio = {.value = rate.b / rate.a,
                  .low = 1 / c.sample.ratio.high,
                  .high = 1 / c.sample.ratio.low,
                  .known = c.sample.ratio.known && c.sample.ratio.low > 0};
    add_row(out.table, "samples per second", rate,
            [](double value) { return format_number(value); });
  }
  if (c.input_wait.known())
    add_row(out.table, "waiting for input, per step", c.input_wait, duration);
  if (c.memory.known()) {
    add_row(out.table, "peak memory", c.memory, [](double bytes) { return format_bytes(bytes); });
  }
  if (c.energy.known()) add_row(out.table, "GPU energy per sample", c.energy, format_energy);
  const auto gpus_a = static_cast<std::int64_t>(c.a.gpus.size());
  const auto gpus_b = static_cast<std::int64_t>(c.b.gpus.size());
  if (c.a.usd_per_gpu_hour && c.b.usd_per_gpu_hour && c.step.known() && gpus_a > 0 && gpus_b > 0) {
    const auto money = [&](const Change& time, const std::string& name, double times) {
      const double a = cost::usd(time.a * times * static_cast<double>(gpus_a), price_of(c.a));
      const double b = cost::usd(time.b * times * static_cast<double>(gpus_b), price_of(c.b));
      Change usd = time;
      usd.a = a;
      usd.b = b;
      const double scale = a > 0 && time.b > 0 ? b / a / (time.b / time.a) : 1;
      for (double* one : {&usd.ratio.value, &usd.ratio.low, &usd.ratio.high}) *one *= scale;
      add_row(out.table, name, usd, [](double value) { return format_usd(value); });
    };
    money(c.step, "GPU cost of 1000 steps", 1e3);
    if (c.sample.known()) money(c.sample, "GPU cost of 1M samples", 1e6);
  }
  // Of what has no GPU, and of traces, nobody expects energy.
  const bool metered = !c.a.gpus.empty() && !c.b.gpus.empty() && c.input_wait.known();
  for (const Change* change : {&c.step, &c.sample, &c.memory, &c.energy}) {
    if (!change->known() && (change != &c.energy || metered)) {
      const std::string name = change == &c.step     ? "time per step"
                               : change == &c.sample ? "time per sample"
                               : change == &c.memory ? "peak memory"
                                                     : "GPU energy per sample";
      out.lines.push_back(sentence(name + " is not known: " + change->missing));
    }
  }
  return out;
}

Section causes_section(const Comparison& c, bool verbose) {
  Section out{.title = "Where the GPU time changed"};
  if (!c.why_no_causes.empty()) {
    out.lines.push_back(sentence("not known: " + c.why_no_causes));
    return out;
  }
  double largest = 0;
  double whole = 0;
  for (const verify::CauseChange& one : c.causes) {
    largest = std::max({largest, one.ns.a, one.ns.b});
    whole += one.ns.difference.value;
  }
  const DurationUnit unit = column_unit(largest);
  out.note = "Per step and GPU; a change in brackets may be chance.";
  out.table.columns = {text_column("cause"),
                       duration_column("A", unit),
                       duration_column("B", unit),
                       duration_column("change", unit),
                       number_column("of the change", 1),
                       duration_column("95% interval", unit, 2)};
  constexpr double kSmall = 0.005;
  std::size_t left_out = 0;
  const double step = std::max(c.step.a, c.step.b);
  for (const verify::CauseChange& one : c.causes) {
    const verify::Interval& d = one.ns.difference;
    if (!verbose && std::abs(d.value) < kSmall * step) {
      ++left_out;
      continue;
    }
    const std::string change = format_signed(d.value, unit);
    const bool chance = d.known && !one.ns.sure();
    out.table.rows.push_back(
        {std::string(model::cause_info(one.cause).title), unit.format(one.ns.a),
         unit.format(one.ns.b), chance ? "(" + change + ")" : change,
         std::abs(whole) > kSmall * step ? format_percent(d.value / whole) : "–",
         d.known ? format_signed(d.low, unit) + " to " + format_signed(d.high, unit) : "–"});
  }
  if (out.table.rows.empty()) {
    out.note.clear();
    out.lines.emplace_back("No cause changed by 0.5% of the step or more.");
  } else if (left_out > 0) {
    out.lines.push_back(count_of(static_cast<std::int64_t>(left_out), "cause") +
                        " changed by less than 0.5% of the step each.");
  }
  return out;
}

std::string_view fate_name(verify::KernelFate fate) {
  switch (fate) {
    case verify::KernelFate::kNew:
      return "new";
    case verify::KernelFate::kGone:
      return "gone";
    case verify::KernelFate::kSlower:
      return "slower";
    case verify::KernelFate::kFaster:
      return "faster";
    case verify::KernelFate::kMoreCalls:
      return "more calls";
    case verify::KernelFate::kFewerCalls:
      return "fewer calls";
  }
  return "";
}

Section kernels_section(const Comparison& c, std::size_t most) {
  Section out{.title = "Kernels"};
  if (!c.why_no_kernels.empty()) {
    out.lines.push_back(sentence("not compared: " + c.why_no_kernels));
    return out;
  }
  double largest = 0;
  for (const verify::KernelChange& one : c.kernels)
    largest = std::max({largest, one.a.ns, one.b.ns});
  const DurationUnit unit = column_unit(largest);
  out.note = "Time per step and GPU.";
  out.table.columns = {text_column(""),
                       duration_column("A", unit),
                       duration_column("B", unit),
                       duration_column("change", unit),
                       number_column("calls A", 2),
                       number_column("calls B", 2),
                       symbol_column("kernel")};
  for (std::size_t i = 0; i < std::min(c.kernels.size(), most); ++i) {
    const verify::KernelChange& one = c.kernels[i];
    out.table.rows.push_back({std::string(fate_name(one.fate)), unit.format(one.a.ns),
                              unit.format(one.b.ns), format_signed(one.delta(), unit),
                              format_number(one.a.calls), format_number(one.b.calls), one.name});
  }
  note_rest(out, most, c.kernels.size());
  if (c.kernels.empty()) {
    out.note.clear();
    out.lines.emplace_back("The same kernels, as often and as long.");
  }
  return out;
}

Section settings_section(const Comparison& c, std::size_t most) {
  Section out{.title = "Settings that differ"};
  out.table.columns = {text_column("setting"), text_column("A"), text_column("B")};
  const auto shown = [](const std::string& text) { return text.empty() ? "–" : text; };
  for (std::size_t i = 0; i < std::min(c.settings.size(), most); ++i) {
    const verify::SettingChange& one = c.settings[i];
    out.table.rows.push_back({one.key, shown(one.a), shown(one.b)});
  }
  note_rest(out, most, c.settings.size());
  return out;
}

Section findings_section(const Comparison& c) {
  Section out{.title = "Findings"};
  out.table.columns = {text_column(""), text_column("finding"), number_column("time in A"),
                       number_column("time in B")};
  for (const verify::FindingChange& one : c.findings) {
    const std::string fate = one.in_a == one.in_b ? "both" : one.in_b ? "new" : "gone";
    out.table.rows.push_back({fate, one.title, one.in_a ? format_percent(one.share_a) : "–",
                              one.in_b ? format_percent(one.share_b) : "–"});
  }
  return out;
}

// Which causes make up the change, in a sentence; empty without a change or causes.
std::string describe_reason(const Comparison& c) {
  if (c.causes.empty() || !c.step.known()) return "";
  double whole = 0;
  for (const verify::CauseChange& one : c.causes) whole += one.ns.difference.value;
  constexpr double kSmall = 0.01;
  if (std::abs(whole) < kSmall * c.step.a) return "";
  std::string out;
  constexpr std::size_t kMost = 3;
  constexpr double kWorthNaming = 0.1;
  for (std::size_t i = 0; i < std::min(c.causes.size(), kMost); ++i) {
    const double part = c.causes[i].ns.difference.value;
    if (std::abs(part) < kWorthNaming * std::abs(whole)) break;
    const DurationUnit unit = duration_unit(std::abs(part));
    out += (out.empty() ? "" : ", ") + std::string(model::cause_info(c.causes[i].cause).title) +
           " " + format_signed(part, unit) + " " + std::string(unit.name);
  }
  const DurationUnit unit = duration_unit(std::abs(whole));
  return "Of the change of " + format_signed(whole, unit) + " " + std::string(unit.name) +
         " per step and GPU: " + out + ".";
}

void write_change(base::JsonWriter& json, std::string_view key, const Change& change) {
  json.key(key);
  json.begin_object();
  const auto if_known = [&](double value) {
    return change.known() ? std::optional(value) : std::nullopt;
  };
  json.member("a", if_known(change.a));
  json.member("b", if_known(change.b));
  json.key("difference");
  write_interval_json(json, change.known() ? std::optional(change.difference) : std::nullopt);
  json.key("ratio");
  write_interval_json(json,
                      change.known() && change.a > 0 ? std::optional(change.ratio) : std::nullopt);
  json.member("sure", change.sure());
  json.member("missing",
              change.known() ? std::nullopt : std::optional<std::string_view>(change.missing));
  json.end_object();
}

void write_texts(base::JsonWriter& json, std::string_view key,
                 const std::vector<std::string>& texts) {
  json.key(key);
  json.begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

void write_side(base::JsonWriter& json, std::string_view key, const verify::Side& side,
                double step_ns, bool known) {
  json.key(key);
  json.begin_object();
  write_texts(json, "runs", side.labels);
  write_texts(json, "gpus", side.gpus);
  json.member("steps", side.steps);
  json.member("warm_up_steps", side.warm_up_steps);
  json.member("samples_per_step", side.samples_per_step);
  std::optional<double> usd;
  if (side.usd_per_gpu_hour && known && !side.gpus.empty()) {
    usd = cost::usd_per_1000_steps(step_ns, static_cast<std::int64_t>(side.gpus.size()),
                                   price_of(side));
  }
  json.member("usd_per_gpu_hour", side.usd_per_gpu_hour);
  json.member("usd_per_1000_steps", usd);
  json.end_object();
}

}  // namespace

std::string describe_difference(const Comparison& c) {
  const Change& time = verify::decisive(c);
  const bool by_sample = &time == &c.sample;
  if (!time.known()) return "The time per step cannot be compared: " + time.missing + ".";
  const std::string per = by_sample ? "sample" : "step";
  const std::string times = format_duration(time.a) + " → " + format_duration(time.b);
  if (!time.ratio.known) {
    return fmt::format("Time per {} in B: {} ({}); too few steps to say whether that is chance.",
                       per, format_change(time.ratio.value), times);
  }
  if (!time.sure()) {
    return fmt::format("No difference beyond chance: time per {} {} in B ({}).", per,
                       format_change(time.ratio.value), format_change_range(time.ratio));
  }
  // One run each tells nothing of what differs from run to run.
  const bool repeated = c.basis == verify::Basis::kRuns;
  return fmt::format("{} {}: time per {} {} ({}), {}.",
                     repeated ? "B is" : "In these two runs B was",
                     time.ratio.value < 1 ? "faster" : "slower", per,
                     format_change(time.ratio.value), format_change_range(time.ratio), times);
}

Document compare_document(const Comparison& c, int top_n, bool verbose) {
  Document out{.title = "comparison"};
  out.warnings = c.unlike;
  out.headline = describe_difference(c);
  if (const std::string reason = describe_reason(c); !reason.empty()) out.reasons.push_back(reason);
  out.head = {{"A", describe_side(c.a)}, {"B", describe_side(c.b)}};
  const std::size_t most = verbose ? 100000 : static_cast<std::size_t>(std::max(1, top_n));
  out.sections = {figures_section(c), causes_section(c, verbose), kernels_section(c, most),
                  settings_section(c, most), findings_section(c)};
  out.notes = c.notes;
  return out;
}

bool write_compare_json(const Comparison& c, const base::TextSink& sink) {
  base::JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "pyrometer.compare/1");
  json.member("verdict", describe_difference(c));
  write_texts(json, "unlike", c.unlike);
  write_texts(json, "notes", c.notes);
  json.member("basis", c.basis == verify::Basis::kNone    ? "none"
                       : c.basis == verify::Basis::kSteps ? "steps"
                                                          : "runs");
  write_side(json, "a", c.a, c.step.a, c.step.known());
  write_side(json, "b", c.b, c.step.b, c.step.known());
  write_change(json, "step_ns", c.step);
  write_change(json, "sample_ns", c.sample);
  write_change(json, "input_wait_ns", c.input_wait);
  write_change(json, "peak_memory_bytes", c.memory);
  write_change(json, "gpu_j_per_sample", c.energy);
  json.key("causes");
  json.begin_object();
  for (const verify::CauseChange& one : c.causes) {
    write_change(json, model::cause_info(one.cause).id, one.ns);
  }
  json.end_object();
  json.member("causes_missing", if_given(c.why_no_causes));
  json.key("kernels");
  json.begin_array();
  for (const verify::KernelChange& one : c.kernels) {
    json.begin_object(base::JsonLayout::kInline);
    json.member("name", one.name);
    json.member("fate", fate_name(one.fate));
    json.member("a_ns", one.a.ns);
    json.member("b_ns", one.b.ns);
    json.member("a_calls", one.a.calls);
    json.member("b_calls", one.b.calls);
    json.end_object();
  }
  json.end_array();
  json.member("kernels_missing", if_given(c.why_no_kernels));
  json.key("settings");
  json.begin_array();
  for (const verify::SettingChange& one : c.settings) {
    json.begin_object(base::JsonLayout::kInline);
    json.member("key", one.key);
    json.member("a", if_given(one.a));
    json.member("b", if_given(one.b));
    json.end_object();
  }
  json.end_array();
  json.key("findings");
  json.begin_array();
  for (const verify::FindingChange& one : c.findings) {
    json.begin_object(base::JsonLayout::kInline);
    json.member("id", one.id);
    json.member("title", one.title);
    json.member("fate", one.in_a == one.in_b ? "both" : one.in_b ? "new" : "gone");
    json.member("share_a", one.in_a ? std::optional(one.share_a) : std::nullopt);
    json.member("share_b", one.in_b ? std::optional(one.share_b) : std::nullopt);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.finish();
}

}  // namespace pyrometer::output
