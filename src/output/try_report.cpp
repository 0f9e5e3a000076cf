#include "output/try_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cost/price.h"
#include "output/change_words.h"
#include "output/json_interval.h"
#include "output/json_parts.h"
#include "output/section_tools.h"
#include "output/shell_words.h"
#include "output/summary.h"

namespace pyrometer::output {
namespace {

using verify::FixVerdict;
using verify::TriedFix;
using verify::TryResult;

std::string_view verdict_id(FixVerdict verdict) {
  switch (verdict) {
    case FixVerdict::kGain:
      return "gain";
    case FixVerdict::kSame:
      return "same";
    case FixVerdict::kSlower:
      return "slower";
    case FixVerdict::kUndecided:
      return "undecided";
    case FixVerdict::kRejected:
      return "rejected";
    case FixVerdict::kSkipped:
      return "skipped";
  }
  return "";
}

std::string command_line(const TryResult& result) {
  std::string out = "pyrometer run";
  for (const model::Override& one : result.best) {
    out += " --with " + shell_word(one.id + "=" + one.value);
  }
  return out + " -- " + shell_line(result.command);
}

std::string edits(const TryResult& result) {
  std::string out;
  for (const model::Override& one : result.best) {
    for (const TriedFix& fix : result.fixes) {
      if (fix.overrides.front() != one) continue;
      for (const std::string& where : fix.where) out += "# " + where + "\n";
      if (!fix.applied.empty()) out += "# in the trials: " + fix.applied + "\n";
    }
    out += model::edit_for(*model::find_override(one.id), one.value) + "\n";
  }
  return out + "# or, with no edit:\n# " + command_line(result) + "\n";
}

std::optional<double> usd_per_million(const TryResult& result, double ratio) {
  if (!result.usd_per_gpu_hour || !result.baseline || !result.baseline->per_sample ||
      result.gpus == 0) {
    return std::nullopt;
  }
  constexpr double kMillion = 1e6;
  const cost::Price price{.usd_per_gpu_hour = *result.usd_per_gpu_hour, .source = ""};
  return cost::usd(result.baseline->ns * ratio * kMillion * static_cast<double>(result.gpus),
                   price);
}

// Mean of the runs.
std::optional<double> joules_per_sample(const std::vector<double>& runs) {
  if (runs.empty()) return std::nullopt;
  return std::accumulate(runs.begin(), runs.end(), 0.0) / static_cast<double>(runs.size());
}

bool any_memory(const TryResult& result) {
  return std::any_of(result.fixes.begin(), result.fixes.end(),
                     [](const TriedFix& fix) { return fix.peak_memory > 0; });
}

Section fixes_section(const TryResult& result) {
  Section out{.title = "What was tried"};
  const bool money = usd_per_million(result, 1).has_value();
  const bool memory = any_memory(result);
  const std::string per = result.baseline && result.baseline->per_sample ? "sample" : "step";
  out.note = "Time per " + per + " against the program as it is; less is better.";
  out.table.columns = {text_column(""), text_column("change"), number_column("predicted", 1),
                       number_column("measured"), number_column("interval")};
  if (money) out.table.columns.push_back(number_column("USD/1M samples", 3));
  const bool energy = !result.baseline_energy.empty();
  if (energy) out.table.columns.push_back(number_column("energy/sample", 4));
  if (memory) out.table.columns.push_back(number_column("peak memory", 4));
  out.table.columns.push_back(number_column("loss", 2));
  out.table.columns.push_back(number_column("pairs", 5));
  const auto add = [&](const TriedFix& fix) {
    std::vector<std::string> row = {std::string(verdict_id(fix.verdict)),
                                    model::text_of(fix.overrides)};
    row.push_back(fix.predicted ? format_change_range(*fix.predicted) : "–");
    row.push_back(fix.pairs > 0 ? format_change(fix.ratio.value) : "–");
    row.push_back(format_change_range(fix.ratio));
    if (money) {
      row.push_back(fix.pairs > 0 ? format_usd(*usd_per_million(result, fix.ratio.value)) : "–");
    }
    if (energy) {
      const auto joules = joules_per_sample(fix.energy);
      row.push_back(joules ? format_energy(*joules) : "–");
    }
    if (memory) row.push_back(fix.peak_memory > 0 ? format_bytes(fix.peak_memory) : "–");
    row.push_back(fix.loss.known ? fmt::format("{:.4g}", fix.loss.loss) : "–");
    row.push_back(fix.pairs > 0 ? std::to_string(fix.pairs) : "–");
    out.table.rows.push_back(std::move(row));
  };
  for (const TriedFix& fix : result.fixes) add(fix);
  if (result.together) add(*result.together);
  for (const TriedFix& fix : result.fixes) {
    if (!fix.reason.empty()) {
      out.lines.push_back(model::text_of(fix.overrides) + ": " + fix.reason + ".");
    }
    if (fix.verdict == FixVerdict::kRejected && fix.loss.worse) {
      out.lines.push_back(fmt::format("{}: loss {:.4g}, against {:.4g} and at most {:.4g} by {}.",
                                      model::text_of(fix.overrides), fix.loss.loss,
                                      fix.loss.baseline, fix.loss.allowed, fix.loss.basis));
    }
  }
  if (result.together && !result.together->reason.empty()) {
    out.lines.push_back("Together: " + result.together->reason + ".");
  }
  return out;
}

void write_overrides(base::JsonWriter& json, std::string_view key,
                     const std::vector<model::Override>& overrides) {
  json.key(key);
  json.begin_array(base::JsonLayout::kInline);
  for (const model::Override& one : overrides) json.value(one.id + "=" + one.value);
  json.end_array();
}

void write_fix(base::JsonWriter& json, const TryResult& result, const TriedFix& fix) {
  json.begin_object();
  write_overrides(json, "overrides", fix.overrides);
  json.member("title", fix.title);
  json.member("finding", if_given(fix.finding));
  json.member("verdict", verdict_id(fix.verdict));
  json.member("reason", if_given(fix.reason));
  json.member("applied", if_given(fix.applied));
  json.key("predicted");
  write_interval_json(json, fix.predicted);
  json.key("measured");
  write_interval_json(json, fix.pairs > 0 ? std::optional(fix.ratio) : std::nullopt);
  json.member("pairs", fix.pairs);
  json.member("alternated", fix.alternated);
  json.member("usd_per_million_samples",
              fix.pairs > 0 ? usd_per_million(result, fix.ratio.value) : std::optional<double>());
  json.member("gpu_j_per_sample", joules_per_sample(fix.energy));
  json.member("peak_memory_bytes",
              fix.peak_memory > 0 ? std::optional(fix.peak_memory) : std::nullopt);
  json.key("loss");
  if (fix.loss.known) {
    json.begin_object(base::JsonLayout::kInline);
    json.member("value", fix.loss.loss);
    json.member("baseline", fix.loss.baseline);
    json.member("allowed", fix.loss.allowed);
    json.member("basis", fix.loss.basis);
    json.end_object();
  } else {
    json.null();
  }
  json.end_object();
}

}  // namespace

std::string try_verdict(const TryResult& result) {
  const std::string per = result.baseline && result.baseline->per_sample ? "sample" : "step";
  if (!result.best.empty()) {
    return fmt::format("With {}: {} time per {} ({}), {:.2f}× as fast.",
                       model::text_of(result.best), format_change(result.best_ratio.value), per,
                       format_change_range(result.best_ratio), 1 / result.best_ratio.value);
  }
  const auto count = [&](FixVerdict verdict) {
    return std::count_if(result.fixes.begin(), result.fixes.end(),
                         [verdict](const TriedFix& fix) { return fix.verdict == verdict; });
  };
  const auto all = static_cast<std::int64_t>(result.fixes.size());
  const std::int64_t skipped = count(FixVerdict::kSkipped);
  const std::int64_t rejected = count(FixVerdict::kRejected);
  if (result.interrupted) return "Interrupted before anything was found to be faster.";
  if (all == 0) {
    return "Nothing to try: no finding has a change that can be made without an edit.";
  }
  if (skipped == all) return "Nothing was tried: " + count_of(all, "change") + " skipped.";
  if (skipped + rejected == all) {
    return fmt::format("Nothing could be tried to the end: {} rejected, {} skipped.", rejected,
                       skipped);
  }
  if (count(FixVerdict::kUndecided) > 0) {
    return "Nothing was found to be faster beyond chance; " +
           count_of(count(FixVerdict::kUndecided), "change") + " not decided.";
  }
  return "Nothing to gain: none of " + count_of(all - skipped - rejected, "change") +
         " that could be tried is faster.";
}

Document try_document(const TryResult& result) {
  Document out{.title = "trial"};
  out.headline = try_verdict(result);
  if (result.baseline) {
    const verify::RunTime& base = *result.baseline;
    std::string text = format_duration(base.step_ns) + " per step";
    if (result.ranks > 1) text += " · " + count_of(result.ranks, "rank");
    if (base.per_sample) {
      constexpr double kSecond = 1e9;
      text += " · " + format_number(kSecond / base.ns) + " samples per second";
    }
    if (const auto usd = usd_per_million(result, 1)) {
      text += " · " + format_usd(*usd) + " for 1M samples";
    }
    if (const auto joules = joules_per_sample(result.baseline_energy)) {
      text += " · " + format_energy(*joules) + " per sample";
    }
    out.head.emplace_back("as it is", text);
  }
  if (result.noise >= 0) {
    out.head.emplace_back("noise", format_percent(result.noise) + " from run to run, unchanged");
  }
  if (!result.fixes.empty()) out.sections.push_back(fixes_section(result));
  if (!result.best.empty()) {
    out.code_title = "What to change";
    out.code = edits(result);
  }
  out.notes = result.notes;
  if (result.gpus > 0 && result.baseline_energy.empty() && !result.why_no_energy.empty()) {
    out.notes.push_back("energy is not known: " + result.why_no_energy);
  }
  if (result.out_of_budget) out.notes.emplace_back("the time budget was over before all was tried");
  if (result.interrupted) out.notes.emplace_back("interrupted: this is what was known by then");
  const auto has = [&](bool TriedFix::*what) {
    return std::any_of(result.fixes.begin(), result.fixes.end(),
                       [what](const TriedFix& fix) { return fix.*what && fix.pairs > 0; });
  };
  if (has(&TriedFix::alternated)) {
    out.notes.emplace_back(
        "changes that can be switched were put on and off in turns within one run");
  }
  out.notes.emplace_back(
      "the files that the program itself writes, such as checkpoints, are its own affair: --copy "
      "lets the trials run in a copy of the folder");
  return out;
}

bool write_try_json(const TryResult& result, const base::TextSink& sink) {
  base::JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "pyrometer.try/1");
  json.member("verdict", try_verdict(result));
  json.member("interrupted", result.interrupted);
  json.member("out_of_budget", result.out_of_budget);
  json.key("baseline");
  json.begin_object();
  const bool known = result.baseline.has_value();
  json.member("step_ns", known ? std::optional(result.baseline->step_ns) : std::nullopt);
  json.member("sample_ns", known && result.baseline->per_sample ? std::optional(result.baseline->ns)
                                                                : std::nullopt);
  json.member("steps", known ? result.baseline->steps : 0);
  json.member("noise", result.noise >= 0 ? std::optional(result.noise) : std::nullopt);
  json.member("peak_memory_bytes", result.baseline_peak_memory > 0
                                       ? std::optional(result.baseline_peak_memory)
                                       : std::nullopt);
  json.member("ranks", result.ranks);
  json.member("gpus", result.gpus);
  json.member("usd_per_gpu_hour", result.usd_per_gpu_hour);
  json.member("usd_per_million_samples", usd_per_million(result, 1));
  json.member("gpu_j_per_sample", joules_per_sample(result.baseline_energy));
  json.member("energy_missing",
              result.baseline_energy.empty() ? if_given(result.why_no_energy) : std::nullopt);
  json.end_object();
  json.key("fixes");
  json.begin_array();
  for (const TriedFix& fix : result.fixes) write_fix(json, result, fix);
  json.end_array();
  json.key("together");
  if (result.together) {
    write_fix(json, result, *result.together);
  } else {
    json.null();
  }
  json.key("best");
  if (result.best.empty()) {
    json.null();
  } else {
    json.begin_object();
    write_overrides(json, "overrides", result.best);
    json.key("measured");
    write_interval_json(json, result.best_ratio);
    json.member("command", command_line(result));
    json.member("edit", edits(result));
    json.end_object();
  }
  json.key("notes");
  json.begin_array();
  for (const std::string& note : result.notes) json.value(note);
  json.end_array();
  json.end_object();
  return json.finish();
}

Document overrides_document() {
  Document out{.title = "overrides"};
  out.headline = "What can be changed of a training with no edit of its code.";
  Section section{.title = "Overrides",
                  .note =
                      "ID=VALUE; ID alone takes the default. N: changes numbers, if only by "
                      "rounding. S: switched within a run."};
  section.table.columns = {whole_column("id"), text_column("default"), text_column(""),
                           text_column("what"), text_column("values", 1)};
  for (const model::OverrideInfo& info : model::override_table()) {
    section.table.rows.push_back(
        {std::string(info.id), info.default_value.empty() ? "–" : std::string(info.default_value),
         std::string(info.changes_numerics ? "N" : "") + (info.switchable ? "S" : ""),
         std::string(info.title), model::values_of(info)});
  }
  out.sections.push_back(std::move(section));
  return out;
}

bool write_overrides_json(const base::TextSink& sink) {
  base::JsonWriter json(sink);
  const auto words = [&json](std::string_view key, std::span<const std::string_view> texts) {
    json.key(key);
    json.begin_array(base::JsonLayout::kInline);
    for (const std::string_view text : texts) json.value(text);
    json.end_array();
  };
  json.begin_object();
  json.member("schema", "pyrometer.overrides/1");
  json.key("overrides");
  json.begin_array();
  for (const model::OverrideInfo& info : model::override_table()) {
    const bool whole = info.kind == model::OverrideKind::kWhole;
    json.begin_object();
    json.member("id", info.id);
    json.member("title", info.title);
    json.member("help", info.help);
    json.member("default", if_given(info.default_value));
    json.member("values", model::values_of(info));
    words("words", info.kind == model::OverrideKind::kSettings ? std::span<const std::string_view>()
                                                               : info.words);
    json.member("least", whole ? std::optional(info.least) : std::nullopt);
    json.member("most", whole ? std::optional(info.most) : std::nullopt);
    json.member("changes_numerics", info.changes_numerics);
    json.member("switchable", info.switchable);
    words("findings", info.findings);
    json.member("edit", model::edit_for(info, info.default_value));
    json.member("caveats", if_given(info.caveats));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.finish();
}

}  // namespace pyrometer::output
