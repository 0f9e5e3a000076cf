// `pyrometer stat`: what the GPUs are doing now.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/replay.h"
#include "readout/collector.h"
#include "readout/csv.h"
#include "sources/stand_in.h"

namespace pyrometer::cli {

class StatCommand : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "stat"; }
  [[nodiscard]] std::string_view purpose() const override;
  [[nodiscard]] std::vector<Example> examples() const override;
  [[nodiscard]] std::vector<OptionGroup> options() override;
  [[nodiscard]] ExitCode run(const Terminal& terminal) override;

 private:
  enum class Shape { kText, kJson, kNdjson, kCsv, kSmi };

  [[nodiscard]] OptionGroup reading_options();
  [[nodiscard]] OptionGroup output_options();
  // What is wrong with the options together; "" where nothing is.
  [[nodiscard]] std::string conflict() const;
  [[nodiscard]] Shape shape() const;
  [[nodiscard]] readout::CollectorOptions collector_options() const;
  [[nodiscard]] std::string header() const;
  [[nodiscard]] std::string render(const readout::Snapshot& snapshot,
                                   const Terminal& terminal) const;
  [[nodiscard]] ExitCode show_once(readout::Collector& collector, const Terminal& terminal) const;
  [[nodiscard]] ExitCode keep_showing(readout::Collector& collector,
                                      const Terminal& terminal) const;
  // Names of GPUs asked for that are not there. Says so on stderr.
  [[nodiscard]] bool lacks_gpus(const readout::Snapshot& snapshot) const;

  std::vector<std::string> gpus_;
  std::vector<readout::Field> fields_;
  std::optional<readout::SmiStyle> format_;
  std::optional<double> watch_seconds_;
  std::string root_;
  std::shared_ptr<const sources::StandIn> stand_in_;  // null: this machine's GPUs
  ReplayChoice replay_;
  bool json_ = false;
  bool ndjson_ = false;
  bool csv_ = false;
  bool verbose_ = false;
  bool arguments_ = false;
  bool list_fields_ = false;
  int width_ = 0;  // 0: as wide as the terminal
};

}  // namespace pyrometer::cli
