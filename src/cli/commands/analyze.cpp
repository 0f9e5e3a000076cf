#include "cli/commands/analyze.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "analysis/pass.h"
#include "analysis/what_if.h"
#include "cli/common_options.h"
#include "cli/exit_code_of.h"
#include "cli/message.h"
#include "cli/output_file.h"
#include "cli/progress_line.h"
#include "cli/values.h"
#include "importers/importer.h"
#include "output/registry.h"
#include "output/report.h"
#include "rules/rule.h"

namespace pyrometer::cli {
namespace {

constexpr int kNarrowest = 40;
constexpr int kWidest = 160;
constexpr int kMostThreads = 1024;
constexpr int kMostRows = 100000;

}  // namespace

std::string_view AnalyzeCommand::purpose() const {
  return "say where every GPU-second of a recorded run went, what it cost, why, and what to change";
}

std::vector<Example> AnalyzeCommand::examples() const {
  return {
      {"pyrometer analyze run.pyro", "what pyrometer run recorded, also while it grows"},
      {"pyrometer analyze traces/", "PyTorch profiler traces: the ranks of a folder, tar or zip"},
      {"pyrometer analyze traces/ --price 2.50", "with money: USD per GPU and hour"},
      {"pyrometer analyze trace.json -v", "with all tables"},
      {"pyrometer analyze traces/ -o report.md", "a report for a pull request"},
      {"pyrometer analyze - --json < trace.json.gz", "for programs, from stdin"},
  };
}

OptionGroup AnalyzeCommand::input_options() {
  OptionGroup group{.title = "Input", .options = {}};
  group.options.push_back({.value = "PATH",
                           .help =
                               "recordings of pyrometer run (.pyro), or PyTorch profiler traces: "
                               ".json files, plain or packed (gz, zst, xz, bz2, lz4), folders, "
                               "tar, zip or 7z archives, - for stdin",
                           .set = append_text(paths_),
                           .completes = Completes::kFiles,
                           .required = true,
                           .repeats = true});
  group.options.push_back({.long_name = "threads",
                           .value = "N",
                           .help = "use N threads; without it, or with 0, one per core",
                           .set = set_whole(threads_, 0, kMostThreads),
                           .tier = Tier::kAdvanced});
  group.options.push_back(config_option(config_path_));
  return group;
}

OptionGroup AnalyzeCommand::report_options() {
  OptionGroup group{.title = "Report", .options = {}};
  for (Option& option : cost_options(cost_)) group.options.push_back(std::move(option));
  for (Option& option : economy_options(cost_)) group.options.push_back(std::move(option));
  group.options.push_back({.short_name = 'v',
                           .long_name = "verbose",
                           .help = "show all tables and findings",
                           .set = set_true(verbose_)});
  group.options.push_back({.long_name = "top",
                           .value = "N",
                           .help = "rows of each table (10)",
                           .set = set_whole(top_, 1, kMostRows),
                           .tier = Tier::kAdvanced});
  return group;
}

OptionGroup AnalyzeCommand::output_options() {
  OptionGroup group{.title = "Output", .options = {}};
  group.options.push_back({.long_name = "json",
                           .help = "write JSON, schema in docs/reference/report-schema.md",
                           .set = set_true(json_)});
  group.options.push_back(
      {.long_name = "md", .help = "write Markdown", .set = set_true(markdown_)});
  group.options.push_back({.short_name = 'o',
                           .long_name = "output",
                           .value = "FILE",
                           .help =
                               "write to FILE: text (.txt), JSON (.json) or Markdown (.md) by its "
                               "ending; any other ending needs --json or --md",
                           .set = set_text(output_),
                           .completes = Completes::kFiles});
  group.options.push_back({.short_name = 'q',
                           .long_name = "no-progress",
                           .help = "show no progress on stderr",
                           .set = set_true(no_progress_)});
  group.options.push_back({.long_name = "no-hints",
                           .help = "leave out the last lines, which name further options",
                           .set = set_true(no_hints_),
                           .tier = Tier::kAdvanced});
  group.options.push_back({.long_name = "width",
                           .value = "COLUMNS",
                           .help = "lay the text out for this width, 40 to 160, instead of the "
                                   "terminal's; where columns go for want of room, the report "
                                   "names them",
                           .set = set_whole(width_, kNarrowest, kWidest),
                           .tier = Tier::kAdvanced});
  return group;
}

std::vector<OptionGroup> AnalyzeCommand::options() {
  return {input_options(), report_options(), output_options()};
}

std::string_view AnalyzeCommand::format_name() const {
  if (json_) return "json";
  if (markdown_) return "md";
  const std::string ending = std::filesystem::path(output_).extension().string();
  if (ending.empty() || ending == ".txt") return "text";
  for (const std::string_view name : {"json", "md"}) {
    if (ending.substr(1) == name) return name;
  }
  return {};
}

// What a report on a terminal says for itself has to be said where nobody looks at the report yet.
void AnalyzeCommand::warn_of_damage(const model::Timeline& timeline) const {
  for (const model::RankTimeline& rank : timeline.ranks) {
    for (const model::ImportCounter& counter : rank.stats.counters()) {
      if (counter.severity != model::StatSeverity::kDataLoss) continue;
      std::string text = rank.info.file + ": ";
      if (counter.first_offset >= 0) {
        text += "byte " + std::to_string(counter.first_offset) + ": ";
      }
      text += counter.help + " (" + counter.kind + ", " + std::to_string(counter.count) + ")";
      print_warning(text);
    }
  }
}

ExitCode AnalyzeCommand::run(const Terminal& terminal) {
  if (json_ && markdown_) {
    print_error("--json and --md exclude each other. See pyrometer analyze --help");
    return ExitCode::kUsage;
  }
  for (const std::string& path : paths_) {
    std::error_code missing;
    if (output_.empty() || !std::filesystem::equivalent(path, output_, missing)) continue;
    print_error(output_ + ": is one of the files to read. Give -o another file");
    return ExitCode::kUsage;
  }
  if (format_name().empty()) {
    print_error(output_ + ": cannot tell the format from this ending. Use .txt, .md or .json, or " +
                "add --md or --json");
    return ExitCode::kUsage;
  }
  const base::Result<Config> config =
      config_path_.empty() ? read_default_config() : read_config(config_path_);
  if (!config) {
    print_error(config.error().to_string());
    return exit_code_of(config.error());
  }
  const base::Result<cost::Settings> settings = cost_settings(cost_, *config);
  if (!settings) {
    print_error(settings.error().to_string());
    return exit_code_of(settings.error());
  }

  importers::Progress progress;
  const auto threads = static_cast<unsigned>(threads_);
  auto line =
      std::make_unique<ProgressLine>(progress, terminal.stderr_is_terminal && !no_progress_);
  std::vector<std::string> skipped;
  const base::Result<model::Timeline> timeline = importers::import_paths(
      paths_, {.threads = threads, .progress = &progress, .skipped = &skipped});
  if (!timeline) {
    line.reset();
    print_error(timeline.error().to_string());
    return exit_code_of(timeline.error());
  }
  line->set_phase("analysing");
  std::unique_ptr<analysis::WhatIf> what_if;
  const model::JobAnalysis job =
      analysis::run_passes(*timeline, {.threads = threads, .what_if = &what_if});
  const model::Diagnosis diagnosis = rules::diagnose(*timeline, job, *what_if, config->rules);
  line.reset();
  for (const std::string& what : skipped) print_warning("left out: " + what);

  const output::Format* const format = output::find_format(format_name());
  if (format->name != "text" || !output_.empty()) warn_of_damage(*timeline);
  const output::TextStyle style{.color = terminal.color && output_.empty(),
                                .unicode = terminal.unicode,
                                .width = width_ > 0 ? width_ : terminal.width,
                                .verbose = verbose_,
                                .hints = !no_hints_,
                                .top_n = top_};
  OutputFile file(output_);
  cost::JobPrice price = cost::price_of(*settings, *timeline, job);
  if (!price.missing.empty() && (format->name != "text" || !output_.empty())) {
    print_warning("no price: " + price.missing);
  }
  format->write({*timeline, job, diagnosis, std::move(price.price), std::move(price.missing),
                 settings->assumptions},
                style, [&file](std::string_view text) { return file.write(text); });
  return file.finish();
}

}  // namespace pyrometer::cli
