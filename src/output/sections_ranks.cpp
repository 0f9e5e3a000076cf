#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "output/section_tools.h"
#include "output/waterfall_view.h"

namespace pyrometer::output {
namespace {

using model::Cause;

double share(model::DurationNs part, model::DurationNs whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

struct RankRow {
  std::size_t position = 0;
  double step_ns = 0;
};

// The slowest `most` ranks, in the order of ranks.
std::vector<std::size_t> pick_ranks(const Report& report, std::size_t most) {
  std::vector<std::size_t> order(report.job.ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= most) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return report.job.ranks[a].steps.stats.mean > report.job.ranks[b].steps.stats.mean;
  });
  order.resize(most);
  std::sort(order.begin(), order.end());
  return order;
}

std::string slow_line(const Report& report) {
  const model::CrossRank& cross = report.job.cross;
  if (cross.slow_rank >= report.timeline.ranks.size()) return "";
  std::string text = "Rank " + std::to_string(report.timeline.ranks[cross.slow_rank].info.rank) +
                     " is the slow one";
  constexpr std::pair<std::string_view, std::string_view> kCauses[] = {
      {"input", "it waits longer for its data"},
      {"host", "its host code takes longer"},
      {"compute", "it computes longer"},
      {"copy", "its copies take longer"}};
  for (const auto& [cause, words] : kCauses) {
    if (cause == cross.slow_cause) text += ": " + std::string(words);
  }
  return text + ".";
}

}  // namespace

Section ranks_section(const Report& report, std::size_t most) {
  Section section;
  section.title = "Ranks";
  const std::vector<std::size_t> picked = pick_ranks(report, most);
  double slowest = 0;
  for (const std::size_t r : picked) {
    slowest = std::max(slowest, static_cast<double>(report.job.ranks[r].steps.stats.mean));
  }
  const DurationUnit unit = column_unit(slowest);
  section.table.columns = {number_column("rank"),    duration_column("step", unit),
                           number_column("compute"), number_column("copies", 4),
                           number_column("comm"),    number_column("waiting", 1),
                           number_column("idle"),    {"mostly", Align::kLeft, Shorten::kNever, 2},
                           text_column("", 3)};
  for (const std::size_t r : picked) {
    const model::RankAnalysis& rank = report.job.ranks[r];
    const model::CauseTimes& causes = rank.waterfall.causes;
    const model::DurationNs whole = model::total(causes);
    model::DurationNs by_group[5] = {};
    std::size_t largest = 0;
    for (std::size_t i = 0; i < model::kCauseCount; ++i) {
      const model::CauseGroup group = model::cause_info(static_cast<Cause>(i)).group;
      by_group[static_cast<std::size_t>(group)] += causes[i];
      if (causes[i] > causes[largest]) largest = i;
    }
    const auto group_share = [&](model::CauseGroup group) {
      return share(by_group[static_cast<std::size_t>(group)], whole);
    };
    const model::DurationNs waiting = model::at(causes, Cause::kCommSkew);
    const double communication = group_share(model::CauseGroup::kComm) - share(waiting, whole);
    const bool stepless = rank.steps.steps.empty();
    section.table.rows.push_back(
        {std::to_string(report.timeline.ranks[r].info.rank),
         stepless ? "–" : unit.format(static_cast<double>(rank.steps.stats.mean)),
         format_percent(group_share(model::CauseGroup::kCompute)),
         format_percent(group_share(model::CauseGroup::kCopy)), format_percent(communication),
         rank.waterfall.skew_known ? format_percent(share(waiting, whole)) : "?",
         format_percent(group_share(model::CauseGroup::kIdle) +
                        group_share(model::CauseGroup::kUnattributed)),
         whole > 0 ? std::string(model::cause_info(static_cast<Cause>(largest)).title) : "–",
         report.job.cross.slow_rank == r ? "slow rank" : ""});
  }
  note_rest(section, picked.size(), report.job.ranks.size());
  const std::string slow = slow_line(report);
  if (!slow.empty()) section.lines.push_back(slow);
  if (!report.job.cross.how.empty()) section.lines.push_back(sentence(report.job.cross.how));
  return section;
}

void add_rank_waterfalls(const Report& report, const SectionStyle& style,
                         std::vector<Section>& out) {
  struct Subject {
    std::string title;
    const model::DeviceWaterfall* device;
  };
  std::vector<Subject> subjects;
  for (std::size_t r = 0; r < report.job.ranks.size(); ++r) {
    const auto& devices = report.job.ranks[r].waterfall.devices;
    for (const model::DeviceWaterfall& device : devices) {
      if (device.window.length() <= 0) continue;
      std::string title = std::to_string(report.timeline.ranks[r].info.rank);
      if (devices.size() > 1) {
        title += ":" + std::to_string(report.timeline.ranks[r].devices[device.device].ordinal);
      }
      subjects.push_back({"rank " + title, &device});
    }
  }
  if (subjects.size() < 2) return;
  constexpr int kLabelWidth = 20;
  constexpr int kColumnWidth = 10;
  const auto side_by_side =
      static_cast<std::size_t>(std::clamp((style.width - kLabelWidth) / kColumnWidth, 1, 12));
  for (std::size_t first = 0; first < subjects.size(); first += side_by_side) {
    const std::size_t last = std::min(subjects.size(), first + side_by_side);
    Section section;
    section.title = first == 0 ? "Where the time goes, by rank" : "… by rank, continued";
    section.table.columns = {text_column("share of the window")};
    std::vector<std::vector<std::int64_t>> tenths;
    for (std::size_t s = first; s < last; ++s) {
      section.table.columns.push_back(number_column(subjects[s].title));
      tenths.push_back(apportion(subjects[s].device->causes, 1000));
    }
    for (std::size_t i = 0; i < model::kCauseCount; ++i) {
      if (report.job.causes[i] == 0) continue;
      std::vector<std::string> row = {std::string(model::cause_info(static_cast<Cause>(i)).title)};
      for (const auto& column : tenths) row.push_back(format_tenths_of_percent(column[i]));
      section.table.rows.push_back(std::move(row));
    }
    out.push_back(std::move(section));
  }
}

}  // namespace pyrometer::output
