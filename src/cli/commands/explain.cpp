#include "cli/commands/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <ranges>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/quantity.h"
#include "base/version.h"
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

std::string value_text(const ThresholdInfo& threshold) {
  if (threshold.unit == "fraction") return base::format_percent(threshold.value);
  if (threshold.unit == "count" || threshold.unit == "ratio") {
    return fmt::format("{:g}", threshold.value);
  }
  return fmt::format("{:.15g} {}", threshold.value, threshold.unit);
}

void section(Page& page, std::string_view heading, std::string_view text) {
  if (text.empty()) return;
  page.heading(heading);
  page.paragraph(2, 2, {{std::string(text)}});
}

std::string page_of(const FindingInfo& finding, const Terminal& terminal) {
  Page page({.color = terminal.color, .unicode = terminal.unicode, .width = terminal.width});
  page.paragraph(0, 0, {{std::string(finding.title), Ink::kStrong}});
  page.paragraph(0, 0, {{std::string(finding.id), Ink::kFaint}});
  page.blank();
  page.paragraph(0, 0, {{std::string(finding.meaning)}});
  section(page, "How it is measured", finding.measured);
  bool first = true;
  for (const ThresholdInfo& threshold : rules::threshold_catalog()) {
    if (threshold.finding != finding.id) continue;
    if (first) {
      page.heading("Thresholds, with their names in the configuration");
      first = false;
    }
    page.paragraph(2, 4,
                   {{fmt::format("{}.{}", finding.id, threshold.name), Ink::kStrong},
                    {fmt::format(" {}: {}", value_text(threshold), threshold.help)},
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

void write_finding(base::JsonWriter& json, const FindingInfo& finding) {
  json.begin_object();
  json.member("id", finding.id);
  json.member("title", finding.title);
  json.member("meaning", finding.meaning);
  json.member("measured", finding.measured);
  json.key("thresholds");
  json.begin_array();
  for (const ThresholdInfo& threshold : rules::threshold_catalog()) {
    if (threshold.finding != finding.id) continue;
    json.begin_object(base::JsonLayout::kInline);
    json.member("key", fmt::format("{}.{}", finding.id, threshold.name));
    json.member("default", threshold.value);
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

ExitCode write_json(const std::function<bool(const FindingInfo&)>& wanted) {
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
    if (wanted(finding)) write_finding(json, finding);
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
  if (json_) {
    return write_json(
        [this](const FindingInfo& finding) { return list_ || finding.id == finding_; });
  }
  if (list_) return write_output(list_text(terminal));
  return write_output(page_of(*rules::find_finding(finding_), terminal));
}

}  // namespace pyrometer::cli
