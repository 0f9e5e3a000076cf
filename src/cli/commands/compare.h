// `pyrometer compare A B`: what changed between two runs, or two groups of runs, and why.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/report_output.h"

namespace pyrometer::cli {

class CompareCommand : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "compare"; }
  [[nodiscard]] std::string_view purpose() const override;
  [[nodiscard]] std::vector<Example> examples() const override;
  [[nodiscard]] std::vector<OptionGroup> options() override;
  [[nodiscard]] ExitCode run(const Terminal& terminal) override;

 private:
  std::vector<std::string> paths_;
  std::vector<std::string> a_, b_;
  ReportOutput output_;
  bool no_progress_ = false;
};

}  // namespace pyrometer::cli
