// A decision between two variants that comes as early as it can and errs no more often for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "verify/bootstrap.h"

namespace pyrometer::verify {

enum class Decision : std::uint8_t {
  kUndecided,
  kFaster,  // the variant takes less time per sample than the baseline
  kSlower,
  kSame,  // whatever difference there is, is smaller than the margin
};

struct SequentialLimits {
  double error = 0.05;     // probability to call the same thing different, over all looks
  double margin = 0.01;    // a difference in log time that is not worth a change
  std::size_t fewest = 5;  // pairs before the first look
  std::size_t most = 40;   // pairs at the last look
};

// Takes log(time of the variant / time of the baseline) per pair, measured side by side. Looks are
// taken at fixed numbers of pairs, each a quarter more than the one before; each look may spend a
// part of the error, after K. Lan, D. DeMets (Discrete sequential boundaries for clinical trials,
// 1983) with Pocock's function; the parts add up to the error, so that it holds whatever the looks'
// correlation. The interval at the present look is a repeated confidence interval (C. Jennison,
// B. Turnbull, 1989): stopping early does not make it too narrow.
class Sequential {
 public:
  explicit Sequential(SequentialLimits limits);

  void add(double log_ratio);
  [[nodiscard]] std::size_t pairs() const { return ratios_.size(); }
  [[nodiscard]] Decision decision() const { return decision_; }
  // No further pair would change anything.
  [[nodiscard]] bool done() const;
  // Of the log ratio, as of the last look; before the first, the level of the first.
  [[nodiscard]] Interval estimate() const;
  [[nodiscard]] const std::vector<double>& ratios() const { return ratios_; }

 private:
  void look();
  [[nodiscard]] double level_at(std::size_t look) const;

  SequentialLimits limits_;
  std::vector<double> ratios_;
  std::vector<std::size_t> looks_;  // numbers of pairs
  std::size_t next_ = 0;            // look
  Decision decision_ = Decision::kUndecided;
};

}  // namespace pyrometer::verify
