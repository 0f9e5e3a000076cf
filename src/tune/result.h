// What `pyrometer tune` found out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/overrides.h"
#include "tune/objective.h"
#include "tune/space.h"
#include "verify/bootstrap.h"

namespace pyrometer::tune {

enum class Verdict : std::uint8_t {
  kBetter,     // the best is better than the first configuration, beyond chance
  kNothing,    // nothing is better than the first configuration, as far as was tried
  kUndecided,  // something seems better, and chance is not excluded
  kNoFirst,    // the first configuration does not work: nothing to compare with
  kNoneWorks,
};

enum class FinalVerdict : std::uint8_t { kBetter, kSame, kWorse, kUndecided, kRejected };

// A configuration against the first one, in turns.
struct Final {
  Point point;
  FinalVerdict verdict = FinalVerdict::kUndecided;
  verify::Interval ratio;  // cost of it / of the first configuration
  std::size_t pairs = 0;
  std::string reason;  // of a rejection, or what is left undecided
};

// A configuration, by the longest trial of it.
struct Tried {
  Measurement last;
  std::size_t trials = 0;
  std::optional<double> cost;  // by the objective
};

// Where more throughput costs more of something else.
struct Front {
  std::string_view id;               // "peak_memory_bytes"
  std::string_view title;            // "peak memory"
  std::vector<std::size_t> all;      // positions in TuneResult::tried that know both
  std::vector<std::size_t> members;  // of these, those that nothing beats; cheapest first
};

struct TuneResult {
  Space space;
  Objective objective = Objective::kSamplesPerSecond;
  std::optional<double> target_loss;
  Point first;
  std::uint64_t seed = 1;
  bool exhaustive = false;       // all points were to be tried
  std::vector<Measurement> all;  // in the order of their trials
  std::vector<Tried> tried;      // best first, those that failed last
  std::vector<Final> finals;
  std::vector<Front> fronts;
  Verdict verdict = Verdict::kNothing;
  std::optional<Point> best;    // to go on with; absent: the first configuration, or none works
  verify::Interval best_ratio;  // cost of it / of the first one
  std::string command;          // line to go on with the best configuration, or the first one
  std::string file;             // with the results
  bool interrupted = false;
  bool out_of_budget = false;
  std::size_t taken_over = 0;  // trials that an earlier session had measured
  std::vector<std::string> notes;
};

[[nodiscard]] std::string_view id_of(FinalVerdict verdict);  // "better"
// What throughput is held against on this front, in the unit of its id.
[[nodiscard]] std::optional<double> cost_on(const Front& front, const Measurement& one);
// Trials that were run, whatever came of them.
[[nodiscard]] std::int64_t trials_of(const TuneResult& result);

// Fills `tried` and `fronts` from `all`.
void arrange(TuneResult& result);

}  // namespace pyrometer::tune
