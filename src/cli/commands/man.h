// `pyrometer man`: prints the manual page, for the build that installs it.
#pragma once

#include "cli/command.h"

namespace pyrometer::cli {

class ManCommand : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "man"; }
  [[nodiscard]] std::string_view purpose() const override;
  [[nodiscard]] std::vector<Example> examples() const override;
  [[nodiscard]] std::vector<OptionGroup> options() override { return {}; }
  [[nodiscard]] bool hidden() const override { return true; }
  [[nodiscard]] ExitCode run(const Terminal& terminal) override;
};

}  // namespace pyrometer::cli
