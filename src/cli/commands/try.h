// `pyrometer try -- CMD…`: changes a training without an edit, and measures what that brings.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/report_output.h"
#include "cli/trial_place.h"
#include "model/overrides.h"

namespace pyrometer::cli {

class TryCommand : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "try"; }
  [[nodiscard]] std::string_view purpose() const override;
  [[nodiscard]] std::vector<Example> examples() const override;
  [[nodiscard]] std::vector<OptionGroup> options() override;
  [[nodiscard]] bool takes_command_line() const override { return true; }
  [[nodiscard]] ExitCode run(const Terminal& terminal) override;

 private:
  [[nodiscard]] OptionGroup trial_options();

  std::vector<std::string> command_;
  std::vector<model::Override> fixes_;
  ReportOutput output_;
  TrialPlace place_;
  double budget_s_ = 600;
  double seconds_ = 0;  // of a trial; 0: by the budget
  bool list_ = false;
  bool allow_numerics_ = false;
  bool quiet_ = false;
};

}  // namespace pyrometer::cli
