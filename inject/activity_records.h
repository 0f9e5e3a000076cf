// CUPTI's records to records of the ring.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "api_calls.h"
#include "clock_conversion.h"
#include "cupti_abi.h"
#include "ring/layout.h"
#include "ring/writer.h"

namespace pyrometer::inject {

// Records that never reached the ring, by RecordType; kNone: CUPTI does not say of what type.
class Losses {
 public:
  void add(ring::RecordType type, std::uint64_t count) {
    counts_[static_cast<std::size_t>(type)].fetch_add(count, std::memory_order_relaxed);
  }
  // Writes kLoss records for what was lost since; keeps what the ring has no room for.
  void report(ring::Writer& writer);

 private:
  std::atomic<std::uint64_t> counts_[ring::kRecordTypes] = {};
};

struct RecordContext {
  const cupti::Api& api;
  const ApiCalls& calls;
  const ClockConversion& clock;
  ring::Writer& writer;
  Losses& losses;
};

// Writes every record of a buffer to the ring. Safe from several threads at once.
void write_activities(const RecordContext& context, std::uint8_t* buffer, std::size_t valid);

}  // namespace pyrometer::inject
