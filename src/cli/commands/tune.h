// `pyrometer tune --space SPACE -- CMD…`: searches settings of a training by running it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/report_output.h"
#include "cli/trial_place.h"
#include "cli/tune_plan.h"

namespace pyrometer::cli {

class TuneCommand : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "tune"; }
  [[nodiscard]] std::string_view purpose() const override;
  [[nodiscard]] std::vector<Example> examples() const override;
  [[nodiscard]] std::vector<OptionGroup> options() override;
  [[nodiscard]] bool takes_command_line() const override { return true; }
  [[nodiscard]] ExitCode run(const Terminal& terminal) override;

 private:
  [[nodiscard]] OptionGroup search_options();
  [[nodiscard]] OptionGroup trial_options();
  // The GPUs of trials side by side; none: one trial at a time.
  [[nodiscard]] base::Result<std::vector<std::string>> slots(const TunePlan& plan) const;
  // What is wrong with the options taken together; "" when nothing.
  [[nodiscard]] std::string conflict() const;

  TuneWords words_;
  ReportOutput output_;
  TrialPlace place_;
  std::string save_;
  std::string resume_;
  std::string report_;
  double budget_s_ = 600;
  int parallel_ = 1;
  bool allow_power_limit_ = false;
  bool quiet_ = false;
};

}  // namespace pyrometer::cli
