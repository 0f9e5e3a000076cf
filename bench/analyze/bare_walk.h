// The limit that the importer is measured against.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace pyrometer::bench {

struct WalkResult {
  std::uint64_t events = 0;
  std::uint64_t arguments = 0;
  double time_sum = 0;  // of ts and dur: what was read is used
  std::uint64_t key_bytes = 0;
};

// The file in memory and a parser for it, so that neither loading nor page faults are timed.
class BareWalk {
 public:
  explicit BareWalk(const std::string& path);
  BareWalk(const BareWalk&) = delete;
  BareWalk& operator=(const BareWalk&) = delete;
  ~BareWalk();
  // Visits every event with simdjson On-Demand: ts and dur as numbers, and the name of every key in
  // args. Keeps nothing. Ends the process when the file is not sound JSON.
  [[nodiscard]] WalkResult run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pyrometer::bench
