// `pyrometer completion SHELL`: prints a completion script.
#pragma once

#include <string>

#include "cli/command.h"

namespace pyrometer::cli {

class CompletionCommand : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "completion"; }
  [[nodiscard]] std::string_view purpose() const override;
  [[nodiscard]] std::vector<Example> examples() const override;
  [[nodiscard]] std::vector<OptionGroup> options() override;
  [[nodiscard]] ExitCode run(const Terminal& terminal) override;

 private:
  std::string shell_;
};

}  // namespace pyrometer::cli
