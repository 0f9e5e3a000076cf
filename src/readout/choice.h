// Which GPUs are free to be used by one more program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "output/report.h"
#include "readout/snapshot.h"

namespace pyrometer::readout {

enum class Order : std::uint8_t { kFree, kUtil, kPower, kTemperature, kIndex };

struct Wish {
  int count = 1;
  // Bytes. Given: a GPU that others compute on will do as well, as long as it has them. Not given:
  // only GPUs that nobody computes on, with most of their memory free.
  std::optional<double> min_free;
  double max_util = 0.1;  // fraction of time
  Order order = Order::kFree;
};

// What is known of a device by which it is judged, beside the last snapshot.
struct Judged {
  std::optional<double> util;           // highest of all looks, fraction
  std::vector<std::string> objections;  // clauses: why it is not for the taking; empty: it is
  [[nodiscard]] bool fits() const { return objections.empty(); }
};

// Takes looks, since the utilization of a single one misleads: a training pauses between batches.
class Judge {
 public:
  explicit Judge(Wish wish) : wish_(wish) {}

  void look(const Snapshot& snapshot);
  // Of the devices of a snapshot, in their order.
  [[nodiscard]] std::vector<Judged> judge(const Snapshot& snapshot) const;
  // Whether more looks could change the judgement: something fits that may be in use.
  [[nodiscard]] bool wants_more(const Snapshot& snapshot, const std::vector<Judged>& judged) const;
  // Positions of what fits, best first.
  [[nodiscard]] std::vector<std::size_t> ranked(const Snapshot& snapshot,
                                                const std::vector<Judged>& judged) const;

 private:
  [[nodiscard]] Judged judge(const Device& device) const;
  void judge_memory(const Device& device, std::size_t computing, Judged& judged) const;

  Wish wish_;
  std::map<std::string, double> highest_;  // utilization by device_key()
};

// What tells a device from the others of the machine as long as it runs: UUID, else PCI address.
[[nodiscard]] std::string device_key(const Device& device);

// A line for each device with what it has free, and why it was not chosen, or that it was.
[[nodiscard]] std::string choice_table(const Snapshot& snapshot, const std::vector<Judged>& judged,
                                       const std::vector<std::size_t>& chosen,
                                       const output::TextStyle& style);

}  // namespace pyrometer::readout
