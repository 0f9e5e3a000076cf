// Builds one rank's timeline from the rows of its chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/kineto/metadata.h"
#include "importers/kineto/rows.h"
#include "model/timeline_builder.h"

namespace pyrometer::importers::kineto {

// All entries that one decoder's tables ever had, by id.
struct DecoderTables {
  std::vector<std::string_view> names;
  std::vector<LocalThread> threads;
  std::vector<model::KernelConfig> configs;
  // Moves the new entries of `rows` in. Call once for each chunk, in the order in which the decoder
  // made them.
  void take(ChunkRows& rows);
};

// A trace as imported, with what is needed to tell its rank.
struct ImportedTrace {
  model::RankTimeline timeline;
  std::optional<std::int32_t> claimed_rank;  // distributedInfo.rank
};

class RankAssembler {
 public:
  // Adds the rows of a chunk made by decoder number `decoder`, whose tables are `tables`.
  void add(const ChunkRows& rows, std::size_t decoder, const DecoderTables& tables);
  void add_mishaps(const MishapCounts& mishaps) { mishaps_.merge(mishaps); }
  [[nodiscard]] std::int64_t events() const { return events_; }
  [[nodiscard]] std::int64_t count(Mishap what) const { return mishaps_.count(what); }

  // Matches begin and end events, applies the metadata and builds the timeline.
  [[nodiscard]] ImportedTrace finish(const TraceMetadata& metadata, std::int64_t json_bytes);

 private:
  // Ids of one decoder's entries in the timeline, filled on first use.
  struct IdMap {
    std::vector<model::NameId> names;
    std::vector<model::Index> threads;
    std::vector<model::Index> configs;
  };
  // A half with its ids already those of the timeline.
  struct Half {
    HalfRow half;
    ActivityRow activity;
  };

  [[nodiscard]] model::NameId name(IdMap& map, const DecoderTables& tables, LocalId id);
  [[nodiscard]] model::ThreadId thread(IdMap& map, const DecoderTables& tables, LocalId id);
  [[nodiscard]] model::Index config(IdMap& map, const DecoderTables& tables, LocalId id);
  void add_activities(const ChunkRows& rows, IdMap& map, const DecoderTables& tables);
  void add_host(const ChunkRows& rows, IdMap& map, const DecoderTables& tables);
  void add_rest(const ChunkRows& rows, IdMap& map, const DecoderTables& tables);
  void match_halves();
  void close_half(const HalfRow& begin, const HalfRow& end);
  void name_threads();
  void shift_times(std::int64_t by);

  model::TimelineBuilder builder_;
  std::vector<IdMap> maps_;
  std::vector<HalfRow> halves_;
  struct NamedThread {
    std::int64_t pid = 0;
    std::string tid;
    std::string name;
  };
  std::vector<NamedThread> thread_names_;
  MishapCounts mishaps_;
  std::int64_t events_ = 0;
  bool hip_names_ = false;
};

}  // namespace pyrometer::importers::kineto
