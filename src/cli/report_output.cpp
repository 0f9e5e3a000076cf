#include "cli/report_output.h"

#include <filesystem>

#include "cli/common_options.h"
#include "cli/output_file.h"
#include "cli/values.h"

namespace pyrometer::cli {

OptionGroup ReportOutput::options(const std::string& schema) {
  constexpr int kNarrowest = 40;
  constexpr int kWidest = 160;
  constexpr int kMostRows = 100000;
  OptionGroup group{.title = "Output", .options = {}};
  group.options.push_back({.short_name = 'v',
                           .long_name = "verbose",
                           .help = "show all rows",
                           .set = set_true(verbose_)});
  group.options.push_back({.long_name = "json",
                           .help = "write JSON, schema in docs/reference/" + schema,
                           .set = set_true(json_)});
  group.options.push_back(
      {.long_name = "md", .help = "write Markdown", .set = set_true(markdown_)});
  group.options.push_back({.short_name = 'o',
                           .long_name = "output",
                           .value = "FILE",
                           .help = "write to FILE: text, or JSON (.json) or Markdown (.md) by its "
                                   "ending",
                           .set = set_text(output_),
                           .completes = Completes::kFiles});
  group.options.push_back({.long_name = "top",
                           .value = "N",
                           .help = "rows of each table (10)",
                           .set = set_whole(top_, 1, kMostRows),
                           .tier = Tier::kAdvanced});
  group.options.push_back({.long_name = "width",
                           .value = "COLUMNS",
                           .help = "lay the text out for this width, 40 to 160, instead of the "
                                   "terminal's",
                           .set = set_whole(width_, kNarrowest, kWidest),
                           .tier = Tier::kAdvanced});
  return group;
}

std::vector<Option> ReportOutput::price_options() {
  std::vector<Option> options = cost_options(cost_);
  options.push_back(config_option(config_path_));
  return options;
}

std::string ReportOutput::conflict() const {
  return json_ && markdown_ ? "--json and --md exclude each other" : "";
}

std::string_view ReportOutput::format() const {
  if (json_) return "json";
  if (markdown_) return "md";
  const std::string ending = std::filesystem::path(output_).extension().string();
  return ending == ".json" ? "json" : ending == ".md" ? "md" : "text";
}

base::Result<Config> ReportOutput::config() const {
  return config_path_.empty() ? read_default_config() : read_config(config_path_);
}

base::Result<cost::Settings> ReportOutput::cost(const Config& config) const {
  return cost_settings(cost_, config);
}

ExitCode ReportOutput::write(const output::Document& document,
                             const std::function<bool(const base::TextSink&)>& write_json,
                             const Terminal& terminal) const {
  OutputFile file(output_);
  const base::TextSink sink = [&file](std::string_view text) { return file.write(text); };
  if (format() == "json") {
    (void)write_json(sink);
  } else if (format() == "md") {
    (void)output::write_markdown_document(document, sink);
  } else {
    const output::TextStyle style{.color = terminal.color && output_.empty(),
                                  .unicode = terminal.unicode,
                                  .width = width_ > 0 ? width_ : terminal.width,
                                  .verbose = verbose_,
                                  .top_n = top_};
    (void)output::write_text_document(document, style, sink);
  }
  return file.finish();
}

}  // namespace pyrometer::cli
