// What compare, gate, try and tune share: the formats they write and the price they count with.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/cost_choice.h"
#include "cost/settings.h"
#include "output/document.h"

namespace pyrometer::cli {

// The options of one command's output. Bound to the command by options().
class ReportOutput {
 public:
  // `schema`: page of the reference that describes the JSON.
  [[nodiscard]] OptionGroup options(const std::string& schema);
  // --price and its like, --config.
  [[nodiscard]] std::vector<Option> price_options();

  // What is wrong with the options taken together; "" when nothing.
  [[nodiscard]] std::string conflict() const;
  [[nodiscard]] base::Result<Config> config() const;
  [[nodiscard]] base::Result<cost::Settings> cost(const Config& config) const;
  [[nodiscard]] bool is_json() const { return format() == "json"; }
  [[nodiscard]] bool verbose() const { return verbose_; }
  // Of -o; "" for stdout.
  [[nodiscard]] const std::string& path() const { return output_; }
  [[nodiscard]] int top() const { return top_; }

  // Writes the document, or the JSON, to where it was asked for.
  [[nodiscard]] ExitCode write(const output::Document& document,
                               const std::function<bool(const base::TextSink&)>& write_json,
                               const Terminal& terminal) const;

 private:
  [[nodiscard]] std::string_view format() const;  // "text", "json" or "md"

  std::string output_;
  std::string config_path_;
  CostChoice cost_;
  bool json_ = false;
  bool markdown_ = false;
  bool verbose_ = false;
  int top_ = 10;
  int width_ = 0;
};

}  // namespace pyrometer::cli
