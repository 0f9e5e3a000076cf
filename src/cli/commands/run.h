// `pyrometer run -- CMD…`: records an unmodified training run and says where its time went.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/cost_choice.h"
#include "model/overrides.h"
#include "monitor/monitor.h"

namespace pyrometer::cli {

class RunCommand : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "run"; }
  [[nodiscard]] std::string_view purpose() const override;
  [[nodiscard]] std::vector<Example> examples() const override;
  [[nodiscard]] std::vector<OptionGroup> options() override;
  [[nodiscard]] bool takes_command_line() const override { return true; }
  // Ends as the command ends: does not return where that was by a signal.
  [[nodiscard]] ExitCode run(const Terminal& terminal) override;

 private:
  [[nodiscard]] monitor::MonitorOptions monitor_options(const Terminal& terminal) const;
  [[nodiscard]] std::string wrong_cost_options() const;
  bool show_report(const Terminal& terminal, const std::string& file) const;
  void report(const Terminal& terminal, const monitor::Outcome& outcome,
              const std::string& file) const;

  std::vector<std::string> command_;
  std::string output_;
  std::string config_path_;
  CostChoice cost_;
  std::vector<model::Override> with_;
  double overhead_percent_ = 0.5;
  bool quiet_ = false;
  bool record_arguments_ = false;
  bool measure_overhead_ = false;
  bool no_hook_ = false;
  bool count_flops_ = false;
  bool no_gpu_ = false;
};

}  // namespace pyrometer::cli
