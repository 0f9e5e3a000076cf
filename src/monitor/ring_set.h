// Finds the rings that recorded processes make, and records each process.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "monitor/process_recorder.h"

namespace pyrometer::monitor {

class RingSet {
 public:
  RingSet(std::string folder, recording::Writer& writer, RecorderOptions options)
      : folder_(std::move(folder)), writer_(writer), configs_(writer), options_(options) {}

  // Looks for new rings and takes what all of them hold; returns the number of records.
  std::size_t drain();
  // Finishes steps; lets processes go that have ended.
  void advance(model::TimeNs now);
  // Everything that is still there.
  void finish(model::TimeNs now);

  // Tells the processes that the recording is over, and records nothing more of them. Throws
  // nothing.
  void abandon();

  // The process whose live state says most: the one that trains, rank 0 first.
  [[nodiscard]] const ProcessRecorder* leading() const;
  [[nodiscard]] std::int64_t processes_seen() const { return next_id_ - 1; }
  [[nodiscard]] std::int64_t processes_that_trained() const { return trained_; }
  // Processes that found no room for a ring.
  [[nodiscard]] std::int64_t processes_without_room() const {
    return static_cast<std::int64_t>(without_room_.size());
  }

 private:
  void find_new();

  std::string folder_;
  recording::Writer& writer_;
  ConfigTable configs_;
  RecorderOptions options_;
  std::vector<std::unique_ptr<ProcessRecorder>> recorders_;
  std::set<std::string> known_;         // file names, also of rings that could not be opened
  std::set<std::string> without_room_;  // file names
  std::int64_t next_id_ = 1;
  std::int64_t trained_ = 0;
};

}  // namespace pyrometer::monitor
