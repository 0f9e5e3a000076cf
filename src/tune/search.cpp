#include "tune/search.h"

#include <algorithm>
#include <utility>

namespace pyrometer::tune {
namespace {

constexpr std::size_t kKept = 3;     // one of so many goes on
constexpr std::size_t kBracket = 9;  // of a sampled search: 9, 3, 1

}  // namespace

double share_of_length(int rung) {
  constexpr double kShares[kRungs] = {0.25, 0.5, 1};
  return kShares[std::clamp(rung, 0, kRungs - 1)];
}

Search::Search(const Space& space, SearchSettings settings)
    : space_(space),
      settings_(std::move(settings)),
      exhaustive_(
          space.size() <=
          std::min<std::uint64_t>(settings_.most > 0 ? settings_.most : kExhaustive, kMostValues)),
      sampler_(space, settings_.seed),
      bound_(settings_.grows_memory) {
  if (!exhaustive_) return;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    if (Point point = space.point(i); point != settings_.first) all_.push_back(std::move(point));
  }
  verify::Random random(settings_.seed);
  for (std::size_t i = all_.size(); i > 1; --i) std::swap(all_[i - 1], all_[random.below(i)]);
  std::reverse(all_.begin(), all_.end());  // taken from the back
}

// Notes what is excluded. False: not to be tried.
bool Search::take(const Point& point) {
  if (known_.contains(point)) return false;
  const Point* by = bound_.excludes(point);
  if (by == nullptr) return true;
  known_[point] = {.rung = 0, .answer = {.outcome = Outcome::kExcluded}};
  excluded_.push_back({point, *by});
  return false;
}

std::vector<Observation> Search::observations() const {
  std::vector<Observation> out;
  // Costs of trials of different lengths are alike: they are rates.
  for (const auto& [point, known] : known_) {
    const bool measured = known.answer.outcome == Outcome::kMeasured;
    out.push_back({.point = point, .cost = known.answer.cost, .failed = !measured});
  }
  return out;
}

void Search::fill_bracket() {
  bracket_.clear();
  at_ = 0;
  rung_ = 0;
  const auto room = [this] { return settings_.most == 0 || taken_ < settings_.most; };
  if (exhaustive_) {
    // What is excluded is found out as it comes: see next().
    while (!all_.empty() && room()) {
      bracket_.push_back(std::move(all_.back()));
      all_.pop_back();
      ++taken_;
    }
    return;
  }
  const std::vector<Observation> seen = observations();
  while (bracket_.size() < kBracket && room()) {
    const auto is_new = [this](const Point& point) {
      return std::find(bracket_.begin(), bracket_.end(), point) == bracket_.end() && take(point);
    };
    std::optional<Point> point = sampler_.next(seen, is_new);
    if (!point) return;
    bracket_.push_back(std::move(*point));
    ++taken_;
  }
}

bool Search::better(const Point& a, const Point& b) const {
  const auto key = [this](const Point& point) {
    const Answer& answer = known_.at(point).answer;
    const int group = answer.outcome == Outcome::kMeasured     ? 0
                      : answer.outcome == Outcome::kNotReached ? 1
                                                               : 2;
    return std::pair(group, group < 2 ? answer.cost : 0);
  };
  return key(a) < key(b);
}

// The best third of a rung to the next one; none: the bracket is over.
void Search::promote() {
  std::erase_if(bracket_, [this](const Point& point) {
    const auto known = known_.find(point);
    if (known == known_.end()) return true;
    const Outcome outcome = known->second.answer.outcome;
    return outcome != Outcome::kMeasured && outcome != Outcome::kNotReached;
  });
  std::stable_sort(bracket_.begin(), bracket_.end(),
                   [this](const Point& a, const Point& b) { return better(a, b); });
  bracket_.resize((bracket_.size() + kKept - 1) / kKept);
  at_ = 0;
  if (++rung_ == kRungs) bracket_.clear();
}

std::optional<Question> Search::next() {
  if (!known_.contains(settings_.first)) {
    if (owed_ > 0) return std::nullopt;
    taken_ = owed_ = 1;
    return Question{settings_.first, kRungs - 1};
  }
  while (true) {
    while (at_ < bracket_.size()) {
      const Point& point = bracket_[at_++];
      // A trial since the bracket was filled may have told.
      if (rung_ == 0 && !take(point)) continue;
      ++owed_;
      return Question{point, rung_};
    }
    if (owed_ > 0) return std::nullopt;
    if (!bracket_.empty()) promote();
    if (!bracket_.empty()) continue;
    fill_bracket();
    if (bracket_.empty()) return std::nullopt;
  }
}

void Search::answer(const Question& question, const Answer& answer) {
  if (owed_ > 0) --owed_;
  known_[question.point] = {question.rung, answer};
  if (answer.outcome == Outcome::kOutOfMemory) bound_.add(question.point);
}

bool Search::withdraw_if_excluded(const Question& question) {
  if (question.rung != 0 || take(question.point)) return false;
  if (owed_ > 0) --owed_;
  return true;
}

std::vector<Point> Search::finalists(std::size_t most, double factor) const {
  std::vector<Point> points;
  const auto first = known_.find(settings_.first);
  const bool has_first =
      first != known_.end() && first->second.answer.outcome == Outcome::kMeasured;
  for (const auto& [point, known] : known_) {
    if (point == settings_.first || known.answer.outcome != Outcome::kMeasured) continue;
    if (has_first && known.answer.cost > factor * first->second.answer.cost) continue;
    points.push_back(point);
  }
  std::stable_sort(points.begin(), points.end(),
                   [this](const Point& a, const Point& b) { return better(a, b); });
  if (points.size() > most) points.resize(most);
  return points;
}

}  // namespace pyrometer::tune
