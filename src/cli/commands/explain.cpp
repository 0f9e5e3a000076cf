#include "cli/commands/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/quantity.h"
#include "base/version.h"
#include "cli/common_options.h"
#include "cli/config_file.h"
#include "cli/exit_code_of.h"
#include "cli/message.h"
#include "cli/output_file.h"
#include "cli/text.h"
#include "cli/values.h"
#include "output/page.h"
#include "rules/catalog.h"

namespace pyrometer::cli {
namespace {

using output::Ink;
using output::Page;
using rules::FindingInfo;
using rules::ThresholdInfo;

std::vector<std::string> all_ids() {
  std::vector<std::string> ids;
  for (const FindingInfo& finding : rules::finding_catalog()) ids.emplace_back(finding.id);
  return ids;
}

// Spelled almost so, or with that word in it.
std::vector<std::string> near_ids(const std::string& word) {
  constexpr std::size_t kMost = 5;
  constexpr std::size_t kTelling = 3;  // letters; shorter parts stand in too many names
  const std::vector<std::string> ids = all_ids();
  std::vector<std::string> near;
  const auto add = [&](const std::string& id) {
    if (near.size() < kMost && std::ranges::find(near, id) == near.end()) near.push_back(id);
  };
  if (std::string meant = closest(word, ids); !meant.empty()) add(meant);
  // "serial_loader" for input.serial_loader, and with mistakes in it.
  std::vector<std::string> tails;
  for (const std::string& id : ids) tails.push_back(id.substr(id.find('.') + 1));
  if (const std::string meant = closest(word, tails); !meant.empty()) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (tails[i] == meant) add(ids[i]);
    }
  }
  if (word.size() >= kTelling) {
    for (const std::string& id : ids) {
      if (id.find(word) != std::string::npos) add(id);
    }
  }
  return near;
}

std::string value_text(double value, std::string_view unit) {
  if (unit == "fraction") return base::format_percent(value);
  if (unit == "count" || unit == "ratio") return fmt::format("{:g}", value);
  return fmt::format("{:.15g} {}", value, unit);
}

std::string key_of(const FindingInfo& finding, const ThresholdInfo& threshold) {
  return fmt::format("{}.{}", finding.id, threshold.name);
}

// What the configuration sets it to.
std::optional<double> configured(const Config& config, const std::string& key) {
  const auto found = config.rules.thresholds.find(key);
  return found == config.rules.thresholds.end() ? std::nullopt : std::optional(found->second);
}

// "10.0%", or "25.0% as configured, 10.0% by default".
std::string value_text(const FindingInfo& finding, const ThresholdInfo& threshold,
                       const Config& config) {
  std::string text = value_text(threshold.value, threshold.unit);
  if (const auto own = configured(config, key_of(finding, threshold))) {
    text = fmt::format("{} as configured, {} by default", value_text(*own, threshold.unit), text);
  }
  return text;
}

void section(Page& page, std::string_view heading, std::string_view text) {
  if (text.empty()) return;
  page.heading(heading);
  page.paragraph(2, 2, {{std::string(text)}});
}

std::string page_of(const FindingInfo& finding, const Config& config, const Terminal& terminal) {
  Page page({.color = terminal.color, .unicode = terminal.unicode, .width = terminal.width});
  page.paragraph(0, 0, {{std::string(finding.title), Ink::kStrong}});
  page.paragraph(0, 0, {{std::string(finding.id), Ink::kFaint}});
  page.blank();
  if (config.rules.disabled.contains(finding.id)) {
    page.paragraph(0, 0,
                   {{"Disabled in " + config.path + ": reports do not judge it.", Ink::kWarn}});
    page.blank();
  }
  page.paragraph(0, 0, {{std::string(finding.meaning)}});
  section(page, "How it is measured", finding.measured);
  bool first = true;
  for (const ThresholdInfo& threshold : rules::threshold_catalog()) {
    if (threshold.finding != finding.id) continue;
    if (first) {
      page.heading("Thresholds, with their names in the configuration");
      first = false;
    }
    page.paragraph(
        2, 4,
        {{key_of(finding, threshold), Ink::kStrong},
         {fmt::format(" {}: {}", value_text(finding, threshold, config), threshold.help)},
         {fmt::format(" ({})", threshold.source), Ink::kFaint}});
  }
  section(page, "How to confirm it by hand", finding.confirm);
  section(page, "How to fix it", finding.fix);
  if (!finding.code.empty()) {
    page.blank();
    page.code(4, 2, finding.code);
  }
  section(page, "When this advice is wrong", finding.wrong_when);
  return page.take();
}

std::string list_text(const Terminal& terminal) {
  std::size_t widest = 0;
  for (const FindingInfo& finding : rules::finding_catalog()) {
    widest = std::max(widest, finding.id.size());
  }
  Page page({.color = terminal.color, .unicode = terminal.unicode, .width = terminal.width});
  for (const FindingInfo& finding : rules::finding_catalog()) {
    page.labelled(0, static_cast<int>(widest) + 2, finding.id, {{std::string(finding.title)}});
  }
  return page.take();
}

void write_finding(base::JsonWriter& json, const FindingInfo& finding, const Config& config) {
  json.begin_object();
  json.member("id", finding.id);
  json.member("title", finding.title);
  json.member("disabled", config.rules.disabled.contains(finding.id));
  json.member("meaning", finding.meaning);
  json.member("measured", finding.measured);
  json.key("thresholds");
  json.begin_array();
  for (const ThresholdInfo& threshold : rules::threshold_catalog()) {
    if (threshold.finding != finding.id) continue;
    json.begin_object(base::JsonLayout::kInline);
    const std::string key = key_of(finding, threshold);
    json.member("key", key);
    json.member("default", threshold.value);
    json.member("value", configured(config, key).value_or(threshold.value));
    json.member("unit", threshold.unit);
    json.member("help", threshold.help);
    json.member("source", threshold.source);
    json.end_object();
  }
  json.end_array();
  json.member("confirm", finding.confirm);
  json.member("fix", finding.fix);
  json.member("code", finding.code);
  json.member("wrong_when", finding.wrong_when);
  json.end_object();
}

ExitCode write_json(const Config& config, const std::function<bool(const FindingInfo&)>& wanted) {
  OutputFile out{std::string()};
  base::JsonWriter json([&out](std::string_view text) { return out.write(text); });
  json.begin_object();
  json.member("schema", "pyrometer.explain/1");
  json.key("tool");
  json.begin_object(base::JsonLayout::kInline);
  json.member("name", "pyrometer");
  json.member("version", base::version());
  json.end_object();
  json.key("findings");
  json.begin_array();
  for (const FindingInfo& finding : rules::finding_catalog()) {
    if (wanted(finding)) write_finding(json, finding, config);
  }
  json.end_array();
  json.end_object();
  (void)json.finish();  // what could not be written, the file knows
  return out.finish();
}

}  // namespace

std::string_view ExplainCommand::purpose() const {
  return "say what a finding means, how it is measured and how to fix it";
}

std::vector<Example> ExplainCommand::examples() const {
  return {
      {"pyrometer explain input.serial_loader", "one finding of a report"},
      {"pyrometer explain --list", "all that there can be"},
  };
}

std::vector<OptionGroup> ExplainCommand::options() {
  OptionGroup input{.title = "Input", .options = {}};
  input.options.push_back({.value = "FINDING",
                           .help = "its id, as reports and --list name it",
                           .set = [this](const std::string& value) -> std::string {
                             if (rules::find_finding(value) != nullptr) {
                               finding_ = value;
                               return {};
                             }
                             const std::vector<std::string> near = near_ids(value);
                             if (near.empty()) {
                               return "is no finding; pyrometer explain --list names them";
                             }
                             std::string text;
                             for (const std::string& id : near) {
                               text += (text.empty() ? "" : ", ") + id;
                             }
                             return "is no finding; did you mean " + text + "?";
                           },
                           .completes = Completes::kWords,
                           .words = all_ids(),
                           .other_words = true});
  input.options.push_back(config_option(config_path_));
  OptionGroup output{.title = "Output", .options = {}};
  output.options.push_back(
      {.long_name = "list", .help = "list all findings instead", .set = set_true(list_)});
  output.options.push_back(
      {.long_name = "json", .help = "write it as JSON", .set = set_true(json_)});
  return {std::move(input), std::move(output)};
}

ExitCode ExplainCommand::run(const Terminal& terminal) {
  if (finding_.empty() == !list_) {
    print_error(list_ ? "--list and the id of a finding exclude each other"
                      : "give the id of a finding, as a report names it, or --list");
    return ExitCode::kUsage;
  }
  // A page that spoke of other limits than the reports would mislead.
  const base::Result<Config> config =
      config_path_.empty() ? read_default_config() : read_config(config_path_);
  if (!config) {
    print_error(config.error().to_string());
    return exit_code_of(config.error());
  }
  if (json_) {
    return write_json(
        *config, [this](const FindingInfo& finding) { return list_ || finding.id == finding_; });
  }
  if (list_) return write_output(list_text(terminal));
  return write_output(page_of(*rules::find_finding(finding_), *config, terminal));
}

}  // namespace pyrometer::cli
