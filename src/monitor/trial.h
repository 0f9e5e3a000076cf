// What is asked of the Python hook for a run with overrides, or for a trial of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/overrides.h"

namespace pyrometer::monitor {

struct TrialOptions {
  std::vector<model::Override> with;       // from the start of the run
  std::vector<model::Override> alternate;  // switchable ones, put on and off in turns
  int block_steps = 0;                     // of a turn: A B B A, where A is without them
  // The program is ended at the end of a step, with exit code 0: after so many steps or so many
  // seconds from the first step's end, with both once both are over. 0: it runs as long as it
  // likes.
  std::int64_t stop_after_steps = 0;
  double stop_after_seconds = 0;
  std::optional<std::uint32_t> seed;  // of Python's, NumPy's and torch's generators
  int losses = 0;                     // of so many first steps the losses are recorded
};

// Whether a process says of an override, "cannot: because … already", that the program does so
// itself: nothing had to be changed. Not where it says that something else stands in the way.
[[nodiscard]] bool is_so_already(std::string_view id, std::string_view text);

// NAME=value for the command's environment: docs/concepts/overrides.md.
[[nodiscard]] std::vector<std::string> trial_environment(const TrialOptions& trial);

// How an override fared in one process, or in all alike.
struct OverrideStatus {
  std::string id;
  // "applied: …", "waiting: …" or "cannot: because …".
  std::string text;
  std::int64_t processes = 0;  // that say so
  bool operator==(const OverrideStatus&) const = default;
};

// Collects what processes say of overrides. A later word of a process replaces an earlier one.
class OverrideLog {
 public:
  // Returns a sentence for the user where an override could not be applied and nobody has been told
  // yet, else "".
  [[nodiscard]] std::string take(std::int64_t process, std::string_view id, std::string_view text);
  [[nodiscard]] std::vector<OverrideStatus> statuses() const;
  // Of those asked for: which were never applied, one sentence each, without what take() has told.
  [[nodiscard]] std::vector<std::string> unapplied(const TrialOptions& trial) const;

 private:
  struct Said {
    std::int64_t process;
    std::string id;
    std::string text;
  };
  std::vector<Said> said_;
  std::vector<std::string> told_;
};

}  // namespace pyrometer::monitor
