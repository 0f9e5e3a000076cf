#include "analysis/comm_sequence.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "analysis/clock_align.h"
#include "analysis/comm_names.h"

namespace pyrometer::analysis {
namespace {

using model::ClockMap;
using model::Collective;
using model::DurationNs;
using model::TimeNs;
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

// Ends on different ranks differ by the last hop of the message, a few µs on one host and up to
// some percent of the collective between hosts.
constexpr DurationNs kEndsApart = 100'000;
constexpr DurationNs kEndsApartMax = 5'000'000;
constexpr double kEndsApartShare = 0.05;

bool generic(Collective c) { return c == Collective::kUnknown || c == Collective::kSendRecv; }

bool same_kind(Collective a, Collective b) {
  if (a == b || generic(a) || generic(b)) return true;
  return (a == Collective::kSend && b == Collective::kRecv) ||
         (a == Collective::kRecv && b == Collective::kSend);
}

// b's view of an event, on a's clock.
CommEvent shifted(const CommEvent& e, const ClockMap& clock) {
  CommEvent result = e;
  result.start = clock.to_reference(e.start);
  result.end = clock.to_reference(e.end);
  return result;
}

DurationNs apart(const CommEvent& a, const CommEvent& b) { return std::abs(a.end - b.end); }

DurationNs tolerance_of(DurationNs longer) {
  const auto share = static_cast<DurationNs>(kEndsApartShare * static_cast<double>(longer));
  return std::min(kEndsApartMax, kEndsApart + share);
}

// Both compatible and, with b on a's clock, at the same time.
bool coincide(const CommEvent& a, const CommEvent& b) {
  if (!compatible(a, b)) return false;
  const DurationNs tolerance = tolerance_of(std::max(a.end - a.start, b.end - b.start));
  if (ends_together(a.collective) || generic(a.collective)) return apart(a, b) <= tolerance;
  // A rank may leave a broadcast or a send before the others do, but not before they came.
  return a.start <= b.end + tolerance && b.start <= a.end + tolerance;
}

// The longest chain of pairs that ascends in both sequences; of equally long ones that with the
// least distance between ends. Pairs are added by ascending i, for one i by descending j.
class BestChain {
 public:
  explicit BestChain(std::size_t positions) : tree_(positions + 1, kNoLink) {}

  void add(std::size_t i, std::size_t j, DurationNs distance) {
    const std::size_t before = best_below(j);
    Link link{i, j, 1, distance, before};
    if (before != kNoLink) {
      link.length += links_[before].length;
      link.distance += links_[before].distance;
    }
    links_.push_back(link);
    for (std::size_t p = j + 1; p < tree_.size(); p += p & (~p + 1)) {
      if (better(links_.size() - 1, tree_[p])) tree_[p] = links_.size() - 1;
    }
  }

  [[nodiscard]] Pairs result() const {
    Pairs pairs;
    std::size_t at = best_below(tree_.size() - 1);
    for (; at != kNoLink; at = links_[at].before) pairs.emplace_back(links_[at].i, links_[at].j);
    std::reverse(pairs.begin(), pairs.end());
    return pairs;
  }

 private:
  static constexpr std::size_t kNoLink = static_cast<std::size_t>(-1);
  struct Link {
    std::size_t i = 0, j = 0;
    std::size_t length = 0;
    DurationNs distance = 0;
    std::size_t before = kNoLink;
  };
  [[nodiscard]] bool better(std::size_t x, std::size_t y) const {
    if (x == kNoLink || y == kNoLink) return y == kNoLink && x != kNoLink;
    const Link& a = links_[x];
    const Link& b = links_[y];
    return a.length != b.length ? a.length > b.length : a.distance < b.distance;
  }
  // Best chain that ends at a position below j: prefix maximum of a Fenwick tree.
  [[nodiscard]] std::size_t best_below(std::size_t j) const {
    std::size_t best = kNoLink;
    for (std::size_t p = j; p > 0; p -= p & (~p + 1)) {
      if (better(tree_[p], best)) best = tree_[p];
    }
    return best;
  }

  std::vector<Link> links_;
  std::vector<std::size_t> tree_;
};

DurationNs longest(const CommSequence& s) {
  DurationNs most = 0;
  for (const CommEvent& e : s) most = std::max(most, e.end - e.start);
  return most;
}

// Pairs what coincides when b's clock is turned into a's.
Pairs pair_by_time(const CommSequence& a, const CommSequence& b, const ClockMap& clock) {
  CommSequence on_a;
  on_a.reserve(b.size());
  for (const CommEvent& e : b) on_a.push_back(shifted(e, clock));
  const DurationNs reach = tolerance_of(std::max(longest(a), longest(b)));
  BestChain chain(b.size());
  std::size_t first = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    while (first < on_a.size() && on_a[first].end < a[i].end - reach) ++first;
    std::size_t last = first;
    while (last < on_a.size() && on_a[last].end <= a[i].end + reach) ++last;
    for (std::size_t j = last; j > first; --j) {
      if (coincide(a[i], on_a[j - 1])) chain.add(i, j - 1, apart(a[i], on_a[j - 1]));
    }
  }
  return chain.result();
}

// A collective ends on no rank before the last has come to it.
bool could_be_at_once(const CommEvent& a, const CommEvent& b) {
  return a.start <= b.end + kEndsApart && b.start <= a.end + kEndsApart;
}

// Between two matches, what is left over on both sides in equal number and kind is the same too,
// even where the ends lie further apart.
Pairs fill_between(const CommSequence& a, const CommSequence& b, const Pairs& anchors,
                   const ClockMap& clock) {
  Pairs pairs;
  for (std::size_t k = 0; k < anchors.size(); ++k) {
    pairs.push_back(anchors[k]);
    if (k + 1 == anchors.size()) break;
    const auto [i, j] = anchors[k];
    const std::size_t missing = anchors[k + 1].first - i - 1;
    if (missing == 0 || missing != anchors[k + 1].second - j - 1) continue;
    bool all = true;
    for (std::size_t m = 1; m <= missing; ++m) {
      all = all && compatible(a[i + m], b[j + m]) &&
            could_be_at_once(a[i + m], shifted(b[j + m], clock));
    }
    for (std::size_t m = 1; all && m <= missing; ++m) pairs.emplace_back(i + m, j + m);
  }
  return pairs;
}

std::vector<SharedEnd> shared_ends(const CommSequence& a, const CommSequence& b,
                                   const Pairs& pairs) {
  std::vector<SharedEnd> together;
  std::vector<SharedEnd> all;
  for (const auto& [i, j] : pairs) {
    all.push_back({b[j].end, a[i].end});
    if (ends_together(a[i].collective)) together.push_back(all.back());
  }
  return together.empty() ? all : together;
}

// Pairs under a first clock, then under the clock those pairs give, until no more are found.
SequenceMatch refine(const CommSequence& a, const CommSequence& b, ClockMap clock) {
  SequenceMatch best;
  constexpr int kRounds = 6;  // a drifting clock reaches further with each
  for (int round = 0; round < kRounds; ++round) {
    Pairs pairs = pair_by_time(a, b, clock);
    if (pairs.size() <= best.pairs.size() && round > 1) break;
    if (pairs.empty()) break;
    clock = fit_clock(shared_ends(a, b, pairs)).map;
    if (pairs.size() >= best.pairs.size()) {
      best.pairs = std::move(pairs);
      best.clock = clock;
    }
  }
  return best;
}

// A run of consecutive events of b held against a run of a: how many fit with one clock offset, and
// how well.
struct RunScore {
  DurationNs offset = 0;
  std::size_t consistent = 0;
  DurationNs deviation = 0;  // summed over the consistent ones
};

// Long runs tell steps apart; short ones still lie between two holes of a trace.
constexpr std::size_t kLongRun = 16;
constexpr std::size_t kShortRun = 5;

RunScore score_run(const CommSequence& a, std::size_t first_a, const CommSequence& b,
                   std::size_t first_b, std::size_t length) {
  std::array<DurationNs, kLongRun> offsets{};
  std::size_t n = 0;
  for (std::size_t k = 0; k < length; ++k) {
    const CommEvent& x = a[first_a + k];
    const CommEvent& y = b[first_b + k];
    if (compatible(x, y)) offsets[n++] = x.end - y.end;
  }
  RunScore score;
  if (n == 0) return score;
  const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>((n - 1) / 2);
  std::nth_element(offsets.begin(), middle, offsets.begin() + static_cast<std::ptrdiff_t>(n));
  score.offset = *middle;
  for (std::size_t k = 0; k < n; ++k) {
    const DurationNs off = std::abs(offsets[k] - score.offset);
    if (off > kEndsApart) continue;
    ++score.consistent;
    score.deviation += off;
  }
  return score;
}

// Clock offsets worth trying, the most consistent first: a few runs of b against every place in a.
std::vector<DurationNs> offsets_by_order(const CommSequence& a, const CommSequence& b,
                                         std::size_t run_length) {
  constexpr std::size_t kRuns = 8;
  constexpr std::size_t kTried = 8;
  const std::size_t length = std::min({run_length, a.size(), b.size()});
  if (length == 0) return {};
  std::vector<RunScore> scores;
  const std::size_t places_b = b.size() - length + 1;
  const std::size_t runs = std::min(kRuns, places_b);
  for (std::size_t run = 0; run < runs; ++run) {
    const std::size_t first_b = runs == 1 ? 0 : run * (places_b - 1) / (runs - 1);
    for (std::size_t first_a = 0; first_a + length <= a.size(); ++first_a) {
      const RunScore score = score_run(a, first_a, b, first_b, length);
      // Half of a run may be past a hole; less says nothing.
      if (score.consistent * 2 >= length) scores.push_back(score);
    }
  }
  const std::size_t kept = std::min(scores.size(), kTried);
  std::partial_sort(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(kept),
                    scores.end(), [](const RunScore& x, const RunScore& y) {
                      if (x.consistent != y.consistent) return x.consistent > y.consistent;
                      if (x.deviation != y.deviation) return x.deviation < y.deviation;
                      return std::abs(x.offset) < std::abs(y.offset);
                    });
  std::vector<DurationNs> offsets;
  for (std::size_t i = 0; i < kept; ++i) offsets.push_back(scores[i].offset);
  return offsets;
}

// Calls made before the profiler was on have no number; a few of those do not matter.
bool has_sequence_numbers(const CommSequence& s) {
  const auto numbered =
      std::count_if(s.begin(), s.end(), [](const CommEvent& e) { return e.sequence >= 0; });
  return numbered > 0 && static_cast<std::size_t>(numbered) * 10 >= s.size() * 9;
}

// Same number, same occurrence of it (several kernels of one coalesced call share a number).
SequenceMatch match_by_number(const CommSequence& a, const CommSequence& b) {
  std::map<std::pair<std::int64_t, int>, std::size_t> in_a;
  std::map<std::int64_t, int> seen;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].sequence >= 0) in_a[{a[i].sequence, seen[a[i].sequence]++}] = i;
  }
  SequenceMatch match;
  seen.clear();
  for (std::size_t j = 0; j < b.size(); ++j) {
    if (b[j].sequence < 0) continue;
    const auto found = in_a.find({b[j].sequence, seen[b[j].sequence]++});
    if (found != in_a.end() && same_kind(a[found->second].collective, b[j].collective)) {
      match.pairs.emplace_back(found->second, j);
    }
  }
  // Out of order on one side would mean that the numbers do not count calls.
  const auto falls = [](const auto& x, const auto& y) { return y.first <= x.first; };
  if (std::adjacent_find(match.pairs.begin(), match.pairs.end(), falls) != match.pairs.end()) {
    return {};
  }
  if (!match.pairs.empty()) match.clock = fit_clock(shared_ends(a, b, match.pairs)).map;
  match.by_sequence_number = !match.pairs.empty();
  return match;
}

}  // namespace

bool compatible(const CommEvent& a, const CommEvent& b) {
  if (!same_kind(a.collective, b.collective)) return false;
  if (a.step >= 0 && b.step >= 0 && a.step != b.step) return false;
  if (a.bytes < 0 || b.bytes < 0) return true;
  // Ranks may give each other different amounts; elsewhere all see the same message.
  const bool uneven = !ends_together(a.collective) || a.collective == Collective::kAllToAll ||
                      generic(a.collective) || generic(b.collective);
  return uneven || a.bytes == b.bytes;
}

SequenceMatch match_sequences(const CommSequence& a, const CommSequence& b,
                              const std::vector<DurationNs>& guesses) {
  if (has_sequence_numbers(a) && has_sequence_numbers(b)) {
    SequenceMatch match = match_by_number(a, b);
    if (!match.pairs.empty()) return match;
  }
  const std::size_t most = std::min(a.size(), b.size());
  const auto nearly_all = [&](const SequenceMatch& m) { return m.pairs.size() * 20 >= most * 19; };
  SequenceMatch best;
  const auto consider = [&](DurationNs offset) {
    ClockMap clock;
    clock.offset = offset;
    SequenceMatch match = refine(a, b, clock);
    if (match.pairs.size() > best.pairs.size()) best = std::move(match);
  };
  for (const DurationNs guess : guesses) {
    consider(guess);
    if (most > 1 && nearly_all(best)) break;
  }
  if (best.pairs.empty() || !nearly_all(best)) {
    const std::size_t by_guess = best.pairs.size();
    for (const std::size_t length : {kLongRun, kShortRun}) {
      for (const DurationNs offset : offsets_by_order(a, b, length)) {
        if (most > 1 && nearly_all(best)) break;
        consider(offset);
      }
    }
    // A shift found by search must explain a good part, or it is chance; a guess need not.
    const bool searched = best.pairs.size() > by_guess;
    if (searched && best.pairs.size() * 4 < most) {
      best = {};
      for (const DurationNs guess : guesses) consider(guess);
    }
  }
  if (!best.pairs.empty()) best.pairs = fill_between(a, b, best.pairs, best.clock);
  return best;
}

}  // namespace pyrometer::analysis
