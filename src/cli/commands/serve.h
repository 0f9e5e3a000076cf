// `pyrometer serve`: what the GPUs and the recorded trainings do, for Prometheus and other
// programs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/cost_choice.h"
#include "cli/replay.h"
#include "server/serve.h"
#include "sources/stand_in.h"

namespace pyrometer::cli {

class ServeCommand : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "serve"; }
  [[nodiscard]] std::string_view purpose() const override;
  [[nodiscard]] std::vector<Example> examples() const override;
  [[nodiscard]] std::vector<OptionGroup> options() override;
  [[nodiscard]] ExitCode run(const Terminal& terminal) override;

 private:
  [[nodiscard]] OptionGroup listen_options();
  [[nodiscard]] OptionGroup metric_options();
  [[nodiscard]] OptionGroup recording_options();
  [[nodiscard]] std::string conflict() const;
  [[nodiscard]] server::ServeOptions serve_options(const Config& config,
                                                   cost::Settings settings) const;
  [[nodiscard]] ExitCode serve(server::Server& server) const;

  std::vector<server::Address> listen_;
  std::string token_file_, certificate_, key_;
  bool insecure_ = false;
  std::vector<std::string> gpus_;
  std::string root_;
  std::shared_ptr<const sources::StandIn> stand_in_;  // null: this machine's GPUs
  ReplayChoice replay_;
  bool no_dcgm_ = false;
  bool no_processes_ = false;
  std::string hostname_label_ = "Hostname";
  std::optional<double> max_age_;
  std::vector<std::string> recordings_;
  std::optional<double> analysis_period_;
  CostChoice cost_;
  std::string config_path_;
};

}  // namespace pyrometer::cli
