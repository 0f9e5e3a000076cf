// `pyrometer gate`: judges runs against limits and a baseline, for CI.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/load_run.h"
#include "cli/report_output.h"
#include "verify/gate.h"

namespace pyrometer::cli {

class GateCommand : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "gate"; }
  [[nodiscard]] std::string_view purpose() const override;
  [[nodiscard]] std::vector<Example> examples() const override;
  [[nodiscard]] std::vector<OptionGroup> options() override;
  [[nodiscard]] std::vector<std::string>* words_after_dashes() override { return &command_; }
  [[nodiscard]] ExitCode run(const Terminal& terminal) override;

 private:
  [[nodiscard]] OptionGroup input_options();
  [[nodiscard]] OptionGroup limit_options();
  [[nodiscard]] std::string conflict() const;
  // What is wrong with the files that are named; "" when nothing.
  [[nodiscard]] std::string file_conflict() const;
  [[nodiscard]] bool needs_baseline() const;
  // Candidates from files; or from runs of the command until `enough`. Says on stderr what is
  // wrong.
  [[nodiscard]] base::Result<std::vector<verify::RunSummary>> runs_of_command(
      const LoadOptions& options, const verify::Baseline* baseline, bool& interrupted) const;
  [[nodiscard]] ExitCode save(const std::vector<verify::RunSummary>& runs) const;

  std::vector<std::string> paths_;
  std::vector<std::string> command_;
  std::string baseline_;
  std::string junit_;
  verify::Limits limits_;
  ReportOutput output_;
  bool save_ = false;
  bool no_progress_ = false;
  int runs_ = 5;         // most, of the command
  double budget_s_ = 0;  // 0: as long as the runs take
};

}  // namespace pyrometer::cli
