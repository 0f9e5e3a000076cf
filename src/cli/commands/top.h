// `pyrometer top`: the GPUs and their processes on a live screen.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/replay.h"
#include "sources/stand_in.h"

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
  std::shared_ptr<const sources::StandIn> stand_in_;  // null: this machine's GPUs
  ReplayChoice replay_;
  bool arguments_ = false;
};

}  // namespace pyrometer::cli
