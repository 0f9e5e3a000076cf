// What holds for every timeline, on random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/critical_path.h"
#include "analysis/dilation.h"
#include "analysis/replay.h"
#include "analysis/steps.h"
#include "tests/support/classify.h"
#include "tests/support/random_timeline.h"

namespace pyrometer::analysis {
namespace {

using testing::RandomTimelineOptions;

model::RankAnalysis analysed(const model::RankTimeline& timeline) {
  model::RankAnalysis analysis = testing::classified(timeline);
  find_steps(timeline, analysis);
  estimate_dilation(timeline, analysis);
  return analysis;
}

StepGraph graph_of(const model::RankTimeline& timeline, const model::RankAnalysis& analysis) {
  const auto steps = static_cast<model::Index>(analysis.steps.steps.size());
  return build_step_graph(timeline, analysis, {{0, steps}});
}

std::vector<double> replayed(const model::RankTimeline& timeline,
                             const model::RankAnalysis& analysis, const StepGraph& graph,
                             const Edit& edit) {
  const std::vector<ReplayRank> ranks{{&timeline, &analysis, &graph, 0}};
  return replay(ranks, find_meetings(ranks, {}), edit, {}).front();
}

class RandomTimelines : public ::testing::TestWithParam<int> {
 protected:
  [[nodiscard]] std::mt19937_64 random() const {
    return std::mt19937_64(static_cast<std::uint64_t>(GetParam()));
  }
  [[nodiscard]] RandomTimelineOptions options() const {
    RandomTimelineOptions options;
    options.devices = 1 + GetParam() % 2;
    options.streams = 1 + GetParam() % 4;
    options.messy = GetParam() % 3 == 0;
    return options;
  }
};

// With each call's own delays the replay is the recorded run.
TEST_P(RandomTimelines, UnchangedReplayGivesEveryStep) {
  auto engine = random();
  auto clean = options();
  clean.messy = false;
  const model::RankTimeline timeline = testing::build(testing::random_rows(engine, clean));
  const model::RankAnalysis analysis = analysed(timeline);
  const StepGraph graph = graph_of(timeline, analysis);
  ASSERT_TRUE(graph.available) << graph.unavailable;
  const std::vector<double> lengths = replayed(timeline, analysis, graph, {});
  const GraphChunk& chunk = graph.chunks.front();
  ASSERT_EQ(lengths.size(), chunk.step_end.size());
  model::TimeNs before = chunk.work_start();
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto measured = static_cast<double>(chunk.step_end[i] - before);
    EXPECT_NEAR(lengths[i], measured, 1 + 1e-3 * measured) << "step " << i;
    before = chunk.step_end[i];
  }
}

TEST_P(RandomTimelines, LessWorkNeverTakesLonger) {
  auto engine = random();
  const model::RankTimeline timeline = testing::build(testing::random_rows(engine, options()));
  const model::RankAnalysis analysis = analysed(timeline);
  const StepGraph graph = graph_of(timeline, analysis);
  const auto total = [&](const Edit& edit) {
    double sum = 0;
    for (const double length : replayed(timeline, analysis, graph, edit)) sum += length;
    return sum;
  };
  const double unchanged = total({});
  Edit edit;
  edit.host_ops = 0.5;
  const double quicker_host = total(edit);
  EXPECT_LE(quicker_host, unchanged * (1 + 1e-9));
  edit.host_other = 0.5;
  edit.remove_syncs = true;
  EXPECT_LE(total(edit), quicker_host * (1 + 1e-9));
}

TEST_P(RandomTimelines, OrderOfTheInputDoesNotMatter) {
  auto engine = random();
  auto rows = testing::random_rows(engine, options());
  const auto lengths_of = [](const std::vector<testing::Row>& input) {
    const model::RankTimeline timeline = testing::build(input);
    const model::RankAnalysis analysis = analysed(timeline);
    const StepGraph graph = graph_of(timeline, analysis);
    return replayed(timeline, analysis, graph, {});
  };
  const std::vector<double> first = lengths_of(rows);
  std::shuffle(rows.begin(), rows.end(), engine);
  EXPECT_EQ(first, lengths_of(rows));
}

TEST_P(RandomTimelines, CriticalPathTilesEveryStep) {
  auto engine = random();
  const model::RankTimeline timeline = testing::build(testing::random_rows(engine, options()));
  const model::RankAnalysis analysis = analysed(timeline);
  for (model::Index step = 0; step < analysis.steps.steps.size(); ++step) {
    const model::CriticalPath path = critical_path_of(timeline, analysis, step);
    ASSERT_EQ(path.step, step);
    const model::Interval span = analysis.steps.steps[step].span;
    model::TimeNs at = span.start;
    for (const model::CriticalSegment& segment : path.segments) {
      ASSERT_EQ(segment.span.start, at);
      ASSERT_LT(segment.span.start, segment.span.end);
      at = segment.span.end;
    }
    EXPECT_EQ(at, span.end);
    model::DurationNs total = 0;
    for (const auto& row : path.summary) total += row.total;
    EXPECT_EQ(total, span.length());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTimelines, ::testing::Range(1, 41));

}  // namespace
}  // namespace pyrometer::analysis
