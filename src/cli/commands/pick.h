// `pyrometer pick`: idle GPUs, for a command or for the shell.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/gpu_lock.h"
#include "readout/choice.h"
#include "readout/collector.h"
#include "readout/visible.h"
#include "sources/stand_in.h"

namespace pyrometer::cli {

class PickCommand : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "pick"; }
  [[nodiscard]] std::string_view purpose() const override;
  [[nodiscard]] std::vector<Example> examples() const override;
  [[nodiscard]] std::vector<OptionGroup> options() override;
  [[nodiscard]] bool takes_command_line() const override { return true; }
  // Does not return where it becomes the command.
  [[nodiscard]] ExitCode run(const Terminal& terminal) override;

 private:
  // All that was seen and decided in one go.
  struct Round {
    readout::Snapshot snapshot;
    std::vector<readout::Judged> judged;
    std::vector<std::size_t> chosen;  // positions in the snapshot; empty: too few fit
    std::vector<GpuLock> locks;       // of those chosen
    double watched_s = 0;             // time over which utilization was sampled
  };

  [[nodiscard]] OptionGroup wish_options();
  [[nodiscard]] OptionGroup output_options();
  [[nodiscard]] std::string conflict() const;
  // Whether all GPUs of -i are there. Says so on stderr.
  [[nodiscard]] bool knows_gpus(const readout::Snapshot& snapshot) const;
  [[nodiscard]] Round decide(readout::Collector& collector) const;
  void judge(const readout::Judge& judge, Round& round) const;
  void choose(const readout::Judge& judge, Round& round) const;
  [[nodiscard]] Round decide_or_wait(readout::Collector& collector) const;
  [[nodiscard]] readout::Grant granted(const Round& round) const;
  [[nodiscard]] std::string table(const Round& round, const Terminal& terminal) const;
  [[nodiscard]] std::string document(const Round& round) const;
  [[nodiscard]] ExitCode refuse(const Round& round, const Terminal& terminal) const;
  [[nodiscard]] ExitCode give(Round& round, const Terminal& terminal) const;

  std::vector<std::string> command_;
  std::vector<std::string> gpus_;
  readout::Wish wish_;
  std::string ids_ = "auto";
  std::string root_;
  std::shared_ptr<const sources::StandIn> stand_in_;  // null: this machine's GPUs
  bool waits_ = false;
  std::optional<double> patience_s_;  // not set: for ever
  double sample_s_ = 1;
  bool export_ = false;
  bool json_ = false;
  bool verbose_ = false;
  bool no_lock_ = false;
};

}  // namespace pyrometer::cli
