// `pyrometer explain`: prints what the catalogue says of a finding.
#pragma once

#include <string>

#include "cli/command.h"

namespace pyrometer::cli {

class ExplainCommand : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "explain"; }
  [[nodiscard]] std::string_view purpose() const override;
  [[nodiscard]] std::vector<Example> examples() const override;
  [[nodiscard]] std::vector<OptionGroup> options() override;
  [[nodiscard]] ExitCode run(const Terminal& terminal) override;

 private:
  std::string finding_;
  std::string config_path_;
  bool list_ = false;
  bool json_ = false;
};

}  // namespace pyrometer::cli
