// Takes snapshots from the sources that `pyrometer run` records from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "readout/board.h"
#include "readout/depth.h"
#include "readout/snapshot.h"
#include "sources/source.h"
#include "sources/stand_in.h"

namespace pyrometer::readout {

struct CollectorOptions {
  std::string root;               // see sources::SourceOptions
  std::vector<std::string> gpus;  // see sources::is_chosen(); empty: all
  Depth depth = Depth::kBrief;
  bool with_processes = true;
  bool with_arguments = false;
  sources::RankLookup rank_of;  // of recorded processes; empty: ranks stay unknown
  // Not null: this instead of the machine's GPUs. Shared since options are copied.
  std::shared_ptr<const sources::StandIn> stand_in;
};

// Not thread-safe.
class Collector {
 public:
  explicit Collector(CollectorOptions options);
  ~Collector();

  // Never fails: what is wrong stands in the snapshot. After a failure the next look starts anew.
  [[nodiscard]] Snapshot look();

 private:
  struct Lane {
    std::unique_ptr<sources::Source> source;
    bool is_started = false;
    bool is_identified = false;  // has said what its devices are, since it was started
  };
  [[nodiscard]] base::Result<void> sample(Lane& lane);
  [[nodiscard]] base::Result<void> take_group(Lane& lane, std::size_t group);

  CollectorOptions options_;
  std::vector<Lane> lanes_;
  Board board_;
  sources::ProcessOwners owners_;
  std::string host_;
};

}  // namespace pyrometer::readout
