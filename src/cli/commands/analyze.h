// `pyrometer analyze PATH...`: traces in, a priced diagnosis out.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/cost_choice.h"
#include "model/timeline.h"

namespace pyrometer::cli {

class AnalyzeCommand : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "analyze"; }
  [[nodiscard]] std::string_view purpose() const override;
  [[nodiscard]] std::vector<Example> examples() const override;
  [[nodiscard]] std::vector<OptionGroup> options() override;
  [[nodiscard]] ExitCode run(const Terminal& terminal) override;

 private:
  [[nodiscard]] OptionGroup input_options();
  [[nodiscard]] OptionGroup report_options();
  [[nodiscard]] OptionGroup output_options();
  // "text", "json" or "md": as asked, else by the ending of the output file; empty where that is
  // none of a format.
  [[nodiscard]] std::string_view format_name() const;
  void warn_of_damage(const model::Timeline& timeline) const;

  std::vector<std::string> paths_;
  CostChoice cost_;
  std::string output_;
  std::string config_path_;
  bool json_ = false;
  bool markdown_ = false;
  bool verbose_ = false;
  bool no_progress_ = false;
  bool no_hints_ = false;
  int threads_ = 0;  // 0: one per core
  int width_ = 0;    // 0: as wide as the terminal
  int top_ = 10;
};

}  // namespace pyrometer::cli
