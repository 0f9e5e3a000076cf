// `pyrometer top`: the GPUs and their processes on a live screen.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "sources/replay/script.h"

namespace pyrometer::cli {

class TopCommand : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "top"; }
  [[nodiscard]] std::string_view purpose() const override;
  [[nodiscard]] std::vector<Example> examples() const override;
  [[nodiscard]] std::vector<OptionGroup> options() override;
  [[nodiscard]] ExitCode run(const Terminal& terminal) override;

 private:
  std::vector<std::string> gpus_;
  std::optional<double> interval_seconds_;
  std::string root_;
  std::shared_ptr<const sources::replay::Script> demo_;
  bool arguments_ = false;
};

}  // namespace pyrometer::cli
