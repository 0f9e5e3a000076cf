// Which configuration is tried next, and for how long: successive halving over points that are all
// of a small space, or that the sampler chooses from a large one.
//
// Brackets of short trials; the best third of each goes on for twice as long, twice (K. Jamieson,
// A. Talwalkar: Non-stochastic Best Arm Identification and Hyperparameter Optimization, 2016).
// Knows no clock: the same answers lead to the same questions, so that a search that was cut off is
// gone through again with the answers that were kept.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tune/memory_bound.h"
#include "tune/sampler.h"
#include "tune/space.h"

namespace pyrometer::tune {

// Lengths of trials: a quarter, half, and the whole of what was asked for.
inline constexpr int kRungs = 3;
[[nodiscard]] double share_of_length(int rung);

// Spaces up to here are tried from end to end, where no other limit is given.
inline constexpr std::uint64_t kExhaustive = 32;

enum class Outcome : std::uint8_t {
  kMeasured,
  kOutOfMemory,
  kFailed,      // crashed, hung, a loss that is no number, an override that cannot be applied
  kNotReached,  // ran, but did not get to the loss that was asked for
  kExcluded,    // not tried: a smaller one ran out of memory
};

struct Answer {
  Outcome outcome = Outcome::kMeasured;
  double cost = 0;  // less is better; of kNotReached: how far it got, compared among its like
};

struct Question {
  Point point;
  int rung = 0;
};

struct SearchSettings {
  Point first;  // the configuration that all are compared with
  std::uint64_t seed = 1;
  std::size_t most = 0;            // configurations, the first among them; 0: no limit
  std::vector<bool> grows_memory;  // by dimension
};

class Search {
 public:
  // The space outlives it.
  Search(const Space& space, SearchSettings settings);

  // The first question is the first configuration at full length. Several may be asked before they
  // are answered. Nothing: all is done, if no answer is owed; else the next question depends on it.
  [[nodiscard]] std::optional<Question> next();
  void answer(const Question& question, const Answer& answer);
  // Of a question that was put off: whether an answer since then excludes it. No answer is owed
  // then.
  [[nodiscard]] bool withdraw_if_excluded(const Question& question);

  // Whether it goes through all points.
  [[nodiscard]] bool is_exhaustive() const { return exhaustive_; }
  // Points that were excluded, with the point that ran out of memory.
  struct Excluded {
    Point point, by;
  };
  [[nodiscard]] const std::vector<Excluded>& excluded() const { return excluded_; }
  // The best configurations so far but for the first: by their last answers, at most so many, only
  // those that cost at most `factor` times what the first one does (where that is known).
  [[nodiscard]] std::vector<Point> finalists(std::size_t most, double factor) const;

 private:
  struct Known {
    int rung = 0;
    Answer answer;
  };
  void fill_bracket();
  [[nodiscard]] bool take(const Point& point);
  void promote();
  [[nodiscard]] std::vector<Observation> observations() const;
  // True where the first argument did better.
  [[nodiscard]] bool better(const Point& a, const Point& b) const;

  const Space& space_;
  SearchSettings settings_;
  bool exhaustive_;
  Sampler sampler_;
  MemoryBound bound_;
  std::map<Point, Known> known_;
  std::vector<Excluded> excluded_;
  std::vector<Point> all_;      // of an exhaustive search, in random order, still to be taken
  std::vector<Point> bracket_;  // points of the present rung
  std::size_t at_ = 0;          // in the bracket
  int rung_ = 0;
  std::size_t taken_ = 0;  // configurations
  std::size_t owed_ = 0;   // answers
};

}  // namespace pyrometer::tune
