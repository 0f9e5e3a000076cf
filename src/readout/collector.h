// Takes snapshots from the source that `pyrometer run` records from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "readout/depth.h"
#include "readout/snapshot.h"
#include "sources/nvml/nvml_source.h"

namespace pyrometer::readout {

struct CollectorOptions {
  std::string root;               // see sources::SourceOptions
  std::vector<std::string> gpus;  // see sources::nvml::is_wanted(); empty: all
  Depth depth = Depth::kBrief;
  bool with_processes = true;
  bool with_arguments = false;
  sources::nvml::Opener open = sources::nvml::open_nvml;
};

// Not thread-safe.
class Collector {
 public:
  explicit Collector(CollectorOptions options);

  // Never fails: what is wrong stands in the snapshot. After a failure the next look starts anew.
  [[nodiscard]] Snapshot look();

 private:
  [[nodiscard]] base::Result<void> sample(sources::Batch& batch);
  void fill(const sources::Batch& batch, Snapshot& snapshot);

  CollectorOptions options_;
  sources::nvml::NvmlSource source_;
  sources::ProcessOwners owners_;
  std::string host_;
  bool is_started_ = false;
};

}  // namespace pyrometer::readout
