#include "tune/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "tune/front.h"
#include "tune/sampler.h"

namespace pyrometer::tune {
namespace {

using Cost = std::function<double(const Point&)>;

Space space_of(const std::string& text) {
  auto space = parse_space(text);
  EXPECT_TRUE(space);
  return space ? *space : Space{};
}

// How far into the best points of the space `tries` get: the share of points that are better than
// the best that was found.
double rank_of_best(const Space& space, const Cost& cost, int tries, bool learns,
                    std::uint64_t seed) {
  Sampler sampler(space, seed);
  std::vector<Observation> seen;
  std::set<Point> tried;
  double best = 1e300;
  for (int i = 0; i < tries; ++i) {
    const auto is_new = [&tried](const Point& point) { return !tried.contains(point); };
    const auto point = learns ? sampler.next(seen, is_new) : sampler.random_point(is_new);
    if (!point) break;
    tried.insert(*point);
    seen.push_back({*point, cost(*point), false});
    best = std::min(best, seen.back().cost);
  }
  std::uint64_t better = 0;
  for (std::uint64_t i = 0; i < space.size(); ++i) better += cost(space.point(i)) < best ? 1 : 0;
  return static_cast<double>(better) / static_cast<double>(space.size());
}

double mean_rank(const Space& space, const Cost& cost, int tries, bool learns) {
  constexpr int kSeeds = 40;
  double sum = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    sum += rank_of_best(space, cost, tries, learns, static_cast<std::uint64_t>(seed));
  }
  return sum / kSeeds;
}

double far(std::uint32_t value, double centre, double scale) {
  const double z = (static_cast<double>(value) - centre) / scale;
  return z * z;
}

TEST(Sampler, FindsTheBestFarSoonerThanChance) {
  const Space bowl = space_of("a=0..29; b=0..29; c=0..9");
  const Cost in_bowl = [](const Point& p) {
    return far(p[0], 21, 30) + far(p[1], 5, 30) + far(p[2], 7, 10);
  };
  EXPECT_LT(mean_rank(bowl, in_bowl, 60, true), mean_rank(bowl, in_bowl, 60, false) / 4);
  // A choice decides, and the numbers depend on each other.
  const Space valley = space_of("mode=p,q,r,s,t; a=0..39; b=0..39");
  const Cost in_valley = [](const Point& p) {
    const double along = (p[1] + p[2]) / 78.0;
    const double across = (static_cast<double>(p[1]) - static_cast<double>(p[2])) / 39.0;
    return (p[0] == 3 ? 0 : 0.5) + std::abs(along - 0.7) + 2 * across * across;
  };
  EXPECT_LT(mean_rank(valley, in_valley, 60, true), mean_rank(valley, in_valley, 60, false) / 3);
}

TEST(Sampler, SameSeedSamePoints) {
  const Space space = space_of("a=0..99; b=0..99; m=x,y");
  const auto run = [&space](std::uint64_t seed) {
    Sampler sampler(space, seed);
    std::vector<Observation> seen;
    std::vector<Point> points;
    for (int i = 0; i < 30; ++i) {
      const auto point = sampler.next(seen, [](const Point&) { return true; });
      seen.push_back({*point, far((*point)[0], 50, 1), i % 7 == 0});
      points.push_back(*point);
    }
    return points;
  };
  EXPECT_EQ(run(3), run(3));
  EXPECT_NE(run(3), run(4));
}

TEST(Sampler, EndsWhereNothingIsLeft) {
  const Space space = space_of("a=0..3; b=0..3");
  Sampler sampler(space, 1);
  std::set<Point> tried;
  std::vector<Observation> seen;
  while (const auto point =
             sampler.next(seen, [&tried](const Point& one) { return !tried.contains(one); })) {
    ASSERT_TRUE(tried.insert(*point).second);
    seen.push_back({*point, 1, true});
  }
  EXPECT_EQ(tried.size(), 16U);
}

struct Asked {
  std::vector<Question> questions;
  std::vector<Point> finalists;
  std::size_t excluded = 0;
};

Asked ask_all(const Space& space, SearchSettings settings,
              const std::function<Answer(const Question&)>& answer) {
  if (settings.first.empty()) settings.first = space.first();
  if (settings.grows_memory.empty()) settings.grows_memory.resize(space.dimensions.size());
  Search search(space, settings);
  Asked out;
  while (const auto question = search.next()) {
    out.questions.push_back(*question);
    search.answer(*question, answer(*question));
    if (out.questions.size() > 2000) {
      ADD_FAILURE() << "does not end";
      break;
    }
  }
  out.finalists = search.finalists(2, 1.03);
  out.excluded = search.excluded().size();
  return out;
}

Answer cost_of(double cost) { return {.outcome = Outcome::kMeasured, .cost = cost}; }

TEST(Search, SmallSpacesFromEndToEndByHalving) {
  const Space space = space_of("a=0..8; b=0,1,2");
  const Asked asked = ask_all(space, {}, [](const Question& question) {
    return cost_of(10 - question.point[0] + 0.1 * question.point[1]);
  });
  std::size_t by_rung[kRungs] = {};
  std::set<Point> points;
  for (const Question& question : asked.questions) {
    ++by_rung[question.rung];
    points.insert(question.point);
  }
  EXPECT_EQ(asked.questions.front().point, space.first());
  EXPECT_EQ(asked.questions.front().rung, kRungs - 1);
  EXPECT_EQ(points.size(), 27U);
  EXPECT_EQ(by_rung[0], 26U);
  EXPECT_EQ(by_rung[1], 9U);
  EXPECT_EQ(by_rung[2], 3U + 1U);
  ASSERT_EQ(asked.finalists.size(), 2U);
  EXPECT_EQ(asked.finalists[0], (Point{8, 0}));
  EXPECT_EQ(asked.finalists[1], (Point{8, 1}));
}

// Several at a time: the same configurations, and no rung before the one below is answered.
TEST(Search, SeveralAtATime) {
  const Space space = space_of("a=0..8; b=0,1,2");
  const auto cost = [](const Point& p) { return 10 - p[0] + 0.1 * p[1]; };
  Search search(space, {.first = space.first(), .grows_memory = {false, false}});
  std::set<std::pair<Point, int>> asked;
  std::size_t batches = 0;
  while (true) {
    std::vector<Question> batch;
    while (batch.size() < 4) {
      const auto question = search.next();
      if (!question) break;
      batch.push_back(*question);
    }
    if (batch.empty()) break;
    ++batches;
    for (const Question& one : batch) {
      EXPECT_EQ(one.rung, batch.front().rung);
      EXPECT_TRUE(asked.emplace(one.point, one.rung).second);
    }
    for (const Question& one : batch) search.answer(one, cost_of(cost(one.point)));
  }
  EXPECT_EQ(asked.size(), 1U + 26 + 9 + 3);
  EXPECT_EQ(batches, 1U + 7 + 3 + 1);
  EXPECT_EQ(search.finalists(1, 1.03).front(), (Point{8, 0}));
}

TEST(Search, GoesOnAfterFailures) {
  const Space space = space_of("a=0..19");
  const Asked asked = ask_all(space, {}, [](const Question& question) {
    if (question.point[0] % 2 == 1) return Answer{.outcome = Outcome::kFailed};
    return cost_of(question.point[0] == 8 ? 1 : 2);
  });
  EXPECT_EQ(asked.finalists.front(), Point{8});
  for (const Question& question : asked.questions) {
    EXPECT_TRUE(question.rung == 0 || question.point[0] % 2 == 0);
  }
}

TEST(Search, OutOfMemoryIsABound) {
  const Space space = space_of("batch=1..16; workers=0,1");
  const auto fits = [](const Point& point) { return point[0] <= 6; };
  std::set<Point> failed;
  const Asked asked = ask_all(space, {.grows_memory = {true, false}}, [&](const Question& q) {
    for (const Point& bound : failed) {
      EXPECT_FALSE(q.point[0] >= bound[0] && q.point[1] == bound[1]);
    }
    if (fits(q.point)) return cost_of(20 - q.point[0]);
    failed.insert(q.point);
    return Answer{.outcome = Outcome::kOutOfMemory};
  });
  EXPECT_GT(asked.excluded, 0U);
  // Every point was either tried or is excluded.
  std::set<Point> points;
  for (const Question& question : asked.questions) points.insert(question.point);
  EXPECT_EQ(points.size() + asked.excluded, 32U);
  EXPECT_EQ(asked.finalists.front()[0], 6U);
}

// A question that was put off is asked again only if no answer since then excludes it.
TEST(Search, QuestionsThatWerePutOff) {
  const Space space = space_of("batch=1..5");
  Search search(space, {.first = {0}, .grows_memory = {true}});
  search.answer(*search.next(), cost_of(1));
  std::vector<Question> questions;
  while (const auto question = search.next()) questions.push_back(*question);
  ASSERT_EQ(questions.size(), 4U);
  std::sort(questions.begin(), questions.end(),
            [](const Question& a, const Question& b) { return a.point < b.point; });
  search.answer(questions[0], cost_of(0.5));
  search.answer(questions[1], {.outcome = Outcome::kOutOfMemory});
  EXPECT_TRUE(search.withdraw_if_excluded(questions[2]));
  EXPECT_TRUE(search.withdraw_if_excluded(questions[3]));
  EXPECT_EQ(search.excluded().size(), 2U);
  // The rest of the rung is known: the best goes on.
  const auto next = search.next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->rung, 1);
  EXPECT_EQ(next->point, questions[0].point);
}

TEST(Search, LargeSpacesBySampling) {
  const Space space = space_of("a=0..99; b=0..99");
  const auto answer = [](const Question& question) {
    return cost_of(0.1 + far(question.point[0], 70, 100) + far(question.point[1], 20, 100));
  };
  const Asked asked = ask_all(space, {.seed = 5, .most = 64}, answer);
  std::set<Point> points;
  for (const Question& question : asked.questions) points.insert(question.point);
  EXPECT_EQ(points.size(), 64U);
  ASSERT_FALSE(asked.finalists.empty());
  EXPECT_LT(answer({asked.finalists[0], 0}).cost, 0.12);
  const Asked again = ask_all(space, {.seed = 5, .most = 64}, answer);
  ASSERT_EQ(again.questions.size(), asked.questions.size());
  for (std::size_t i = 0; i < again.questions.size(); ++i) {
    EXPECT_EQ(again.questions[i].point, asked.questions[i].point);
    EXPECT_EQ(again.questions[i].rung, asked.questions[i].rung);
  }
}

TEST(Search, FinalistsAreNoneThatAreClearlyWorse) {
  const Space space = space_of("a=0..3");
  const Asked asked = ask_all(
      space, {}, [](const Question& question) { return cost_of(1 + 0.1 * question.point[0]); });
  EXPECT_TRUE(asked.finalists.empty());
}

TEST(MemoryBound, NamesThatRaiseTheNeed) {
  for (const char* name : {"batch", "batch_size", "batchSize", "micro-batch", "bs", "seq_len",
                           "image_size", "tokens"}) {
    EXPECT_TRUE(seems_to_grow_memory(space_of(std::string(name) + "=1,2").dimensions[0])) << name;
  }
  for (const char* name : {"workers", "accumulate_batches", "lr", "loader.prefetch_factor", "obs",
                           "bucket_size", "env:BATCHED"}) {
    EXPECT_FALSE(seems_to_grow_memory(space_of(std::string(name) + "=1,2").dimensions[0])) << name;
  }
  EXPECT_FALSE(seems_to_grow_memory(space_of("batch=small,large").dimensions[0]));
}

TEST(Front, HoldsWhatNothingBeats) {
  verify::Random random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<Tradeoff> all(random.below(30));
    for (Tradeoff& one : all) {
      one = {static_cast<double>(random.below(12)), static_cast<double>(random.below(12))};
    }
    const auto beats = [](const Tradeoff& a, const Tradeoff& b) {
      return a.gain >= b.gain && a.cost <= b.cost && (a.gain > b.gain || a.cost < b.cost);
    };
    const std::vector<std::size_t> front = pareto_front(all);
    const std::set<std::size_t> in(front.begin(), front.end());
    EXPECT_EQ(in.size(), front.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool beaten = std::any_of(all.begin(), all.end(),
                                      [&](const Tradeoff& other) { return beats(other, all[i]); });
      EXPECT_EQ(in.contains(i), !beaten);
    }
    EXPECT_TRUE(std::is_sorted(front.begin(), front.end(), [&all](std::size_t a, std::size_t b) {
      return all[a].cost < all[b].cost;
    }));
  }
}

}  // namespace
}  // namespace pyrometer::tune
