#include "output/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "cost/price.h"
#include "model/overrides.h"
#include "output/units.h"

namespace pyrometer::output {
namespace {

std::string file_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

// "a, b and c".
std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " and " : ", ";
    out += words[i];
  }
  return out;
}

std::string range_text(std::int64_t low, std::int64_t high) {
  return low == high ? fmt::format("{}", low) : fmt::format("{}–{}", low, high);
}

// "20.0%" → "20%": thresholds are round numbers.
std::string without_trailing_zero(const std::string& text) {
  return text.ends_with(".0%") ? text.substr(0, text.size() - 3) + "%" : text;
}

bool same_within(double a, double b, double share) {
  return std::abs(a - b) <= share * std::abs(b);
}

}  // namespace

std::string count_of(std::int64_t count, const std::string& noun) {
  return format_count(static_cast<double>(count)) + " " + noun + (count == 1 ? "" : "s");
}

std::string describe_gpus(const Report& report) {
  std::map<std::string, std::int64_t> by_name;
  for (std::size_t r = 0; r < report.job.ranks.size(); ++r) {
    for (const model::DeviceWaterfall& device : report.job.ranks[r].waterfall.devices) {
      if (device.window.length() <= 0) continue;
      const std::string& name = report.timeline.ranks[r].devices[device.device].name;
      ++by_name[name.empty() ? "GPU of unknown kind" : name];
    }
  }
  std::vector<std::string> words;
  for (const auto& [name, count] : by_name) words.push_back(fmt::format("{} × {}", count, name));
  return words.empty() ? "no GPU activity" : join(words);
}

std::string describe_ranks(const Report& report) {
  if (report.timeline.ranks.empty()) return "no ranks";
  std::vector<std::string> runs;  // of consecutive ranks
  std::int32_t world = -1;
  const auto& ranks = report.timeline.ranks;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t j = i;
    while (j + 1 < ranks.size() && ranks[j + 1].info.rank == ranks[j].info.rank + 1) ++j;
    runs.push_back(range_text(ranks[i].info.rank, ranks[j].info.rank));
    i = j + 1;
  }
  for (const model::RankTimeline& rank : ranks) world = std::max(world, rank.info.world_size);
  std::string text = (ranks.size() == 1 ? "rank " : "ranks ") + join(runs);
  if (world > static_cast<std::int32_t>(ranks.size())) text += fmt::format(" of {}", world);
  return text;
}

std::string describe_steps(const Report& report) {
  std::set<std::int64_t> counts;
  for (const model::RankAnalysis& rank : report.job.ranks) {
    counts.insert(static_cast<std::int64_t>(rank.steps.steps.size()));
  }
  if (counts.empty() || *counts.rbegin() == 0) return "no steps found";
  std::int64_t recorded = 0;  // of one rank's whole run
  for (const model::RankTimeline& rank : report.timeline.ranks) {
    if (rank.run != nullptr) recorded = std::max(recorded, rank.run->steps_total);
  }
  if (recorded > *counts.rbegin()) {
    return range_text(*counts.begin(), *counts.rbegin()) + fmt::format(" of {} steps", recorded);
  }
  const bool one = *counts.begin() == 1 && *counts.rbegin() == 1;
  return range_text(*counts.begin(), *counts.rbegin()) + (one ? " step" : " steps");
}

std::string describe_window(const Report& report) {
  model::DurationNs longest = 0;
  for (const model::RankAnalysis& rank : report.job.ranks) {
    longest = std::max(longest, rank.steps.window.length());
  }
  if (longest == 0) return "";
  model::DurationNs run = 0;
  for (const model::RankTimeline& rank : report.timeline.ranks) {
    if (rank.run != nullptr) run = std::max(run, rank.run->span.length());
  }
  std::string text = " · " + format_duration(static_cast<double>(longest));
  if (run == 0) return text + " window";
  return text + " of " + format_duration(static_cast<double>(std::max(run, longest))) + " analysed";
}

std::string describe_job(const Report& report) {
  // A process on its own has no use for a rank.
  const auto& ranks = report.timeline.ranks;
  const bool alone =
      ranks.size() == 1 && ranks.front().run != nullptr && ranks.front().info.world_size <= 1;
  return describe_gpus(report) + " · " + (alone ? "" : describe_ranks(report) + " · ") +
         describe_steps(report) + describe_window(report);
}

std::string describe_price(const Report& report) {
  const std::int64_t gpus = cost::usage_of(report.job).gpus;
  if (!report.price_missing.empty()) return "none: " + report.price_missing;
  if (!report.price || gpus == 0) return "";
  return format_usd(report.price->usd_per_gpu_hour) + " per GPU-hour (" + report.price->source +
         "): " + format_usd(cost::usd_per_day(1, gpus, *report.price)) + " a day for " +
         count_of(gpus, "GPU");
}

std::string describe_files(const Report& report) {
  std::vector<std::string> names;
  for (const model::RankTimeline& rank : report.timeline.ranks) {
    std::string name = file_name(rank.info.file);
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  if (names.empty()) return "";
  if (names.size() == 1) return names.front();
  return names.front() + fmt::format(" and {} more", names.size() - 1);
}

StepTime step_time(const Report& report) {
  StepTime time;
  const model::RankAnalysis* pace = nullptr;
  for (std::size_t r = 0; r < report.job.ranks.size(); ++r) {
    const model::RankAnalysis& rank = report.job.ranks[r];
    if (rank.steps.steps.empty()) continue;
    const auto key = [](const model::RankAnalysis& one) {
      return std::pair(one.replay.available ? one.replay.corrected_ns : 0.0,
                       static_cast<double>(one.steps.stats.mean));
    };
    if (pace != nullptr && key(rank) <= key(*pace)) continue;
    pace = &rank;
    if (report.job.ranks.size() > 1) time.rank = report.timeline.ranks[r].info.rank;
  }
  if (pace == nullptr) return time;
  time.known = true;
  time.recorded_ns = static_cast<double>(pace->steps.stats.mean);
  time.corrected = pace->replay.available;
  if (!time.corrected) {
    time.why_not = pace->replay.unavailable;
    return time;
  }
  time.without_profiler_ns = pace->replay.corrected_ns;
  time.low_ns = pace->replay.corrected_low_ns;
  time.high_ns = pace->replay.corrected_high_ns;
  time.basis = pace->dilation.available ? pace->dilation.basis : pace->dilation.unavailable;
  time.replay_error = pace->replay.error;
  return time;
}

std::string describe_step_time(const Report& report) {
  const StepTime time = step_time(report);
  if (!time.known) return "";
  const std::string slowest =
      time.rank < 0 ? "" : fmt::format("; of rank {}, the slowest", time.rank);
  if (is_recording(report)) return format_duration(time.recorded_ns) + " on average" + slowest;
  std::string text = format_duration(time.recorded_ns) + " as recorded";
  if (!time.corrected) {
    return text + (time.why_not.empty() ? "" : "; not known without the profiler: " + time.why_not);
  }
  text += ", " + format_duration(time.without_profiler_ns);
  constexpr double kSame = 0.005;
  if (!same_within(time.low_ns, time.high_ns, kSame)) {
    text += " (" + format_duration_range(time.low_ns, time.high_ns) + ")";
  }
  text += " without the profiler";
  return text + slowest;
}

std::string sentence(std::string text) {
  if (text.empty()) return text;
  if (text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  if (std::string_view(".!?…").find(text.back()) == std::string_view::npos) text += '.';
  return text;
}

std::string describe_prediction(const model::Prediction& prediction) {
  const std::string now = format_duration(prediction.baseline_ns);
  const std::string then =
      base::format_expected(prediction.mid_ns, prediction.low_ns, prediction.high_ns);
  const std::string range = format_duration_range(prediction.low_ns, prediction.high_ns);
  return now + " → " + then + " per step" + (range == then ? "" : " (" + range + ")") + ", " +
         base::format_speedup(prediction.baseline_ns, prediction.mid_ns, prediction.low_ns,
                              prediction.high_ns);
}

std::string describe_saving(const Report& report, const model::Prediction& prediction) {
  if (!report.price) return "";
  const cost::Usage usage = cost::usage_of(report.job);
  const cost::Saving saving = cost::saving_of(prediction);
  if (usage.gpus == 0 || !(saving.share.high > 0)) return "";
  const auto a_day = [&](double share) {
    return cost::usd_per_day(share, usage.gpus, *report.price);
  };
  return fmt::format("{} of the step: {} a day on {}",
                     format_percent_range(saving.share.low, saving.share.high),
                     format_usd_range(a_day(saving.share.low), a_day(saving.share.high)),
                     count_of(usage.gpus, "GPU"));
}

std::string try_command(const model::Finding& finding) {
  constexpr int kMost = 3;
  std::string command = "pyrometer try";
  bool numerics = false;
  int count = 0;
  for (const model::OverrideInfo* info : model::overrides_for(finding.id)) {
    if (++count > kMost) break;
    command += fmt::format(" --fix {}", info->id);
    numerics = numerics || info->changes_numerics;
  }
  if (count == 0) return "";
  return command + (numerics ? " --allow-numerics" : "") + " -- COMMAND";
}

std::string describe_evidence(const model::Evidence& evidence) {
  std::string text = evidence.fact + " " + format_quantity(evidence.value, evidence.unit);
  if (!evidence.note.empty()) text += " " + evidence.note;
  if (!evidence.threshold) return text;
  std::string comparison = evidence.comparison;
  if (comparison == ">=") comparison = "≥";
  if (comparison == "<=") comparison = "≤";
  return text +
         fmt::format(" (threshold {}{}{})", comparison, comparison.empty() ? "" : " ",
                     without_trailing_zero(format_quantity(*evidence.threshold, evidence.unit)));
}

std::vector<std::string> trust_notes(const Report& report) {
  std::vector<std::string> notes;
  const auto add = [&](std::string text) {
    text = sentence(std::move(text));
    if (!text.empty() && std::find(notes.begin(), notes.end(), text) == notes.end()) {
      notes.push_back(std::move(text));
    }
  };
  // These begin with a path, perhaps, which has to be shown as it is.
  for (const std::string& note : report.timeline.notes) {
    if (note.empty()) continue;
    std::string text = sentence(note);
    text.front() = note.front();
    if (std::find(notes.begin(), notes.end(), text) == notes.end())
      notes.push_back(std::move(text));
  }
  for (const model::RankAnalysis& rank : report.job.ranks) add(rank.steps.how);
  const StepTime time = step_time(report);
  if (!time.known) {
    add("No predictions: no steps were found");
  } else if (!time.corrected) {
    add("No predictions: " +
        (time.why_not.empty() ? "the steps could not be replayed" : time.why_not));
  } else {
    if (!time.basis.empty() && !is_recording(report))
      add("Cost of the profiler, taken out: " + time.basis);
    constexpr double kFarOff = 0.1;
    add(
        fmt::format("Predictions replay the recorded steps with the change made. As a check, the "
                    "steps were replayed unchanged: {} off the recorded time, {}",
                    format_percent(time.replay_error),
                    time.replay_error < kFarOff ? "so the replay stands for this program"
                                                : "so take the predictions with care"));
  }
  return notes;
}

std::vector<ImportNote> import_notes(const Report& report) {
  struct Merged {
    model::ImportCounter counter;  // count over all ranks, offset in the first of them
    std::vector<std::int32_t> ranks;
  };
  std::map<std::pair<bool, std::string>, Merged> by_kind;  // false, data loss, comes first
  for (const model::RankTimeline& rank : report.timeline.ranks) {
    for (const model::ImportCounter& counter : rank.stats.counters()) {
      if (counter.count == 0) continue;
      const bool harmless = counter.severity == model::StatSeverity::kInfo;
      const auto [at, is_new] = by_kind.try_emplace({harmless, counter.kind}, Merged{counter, {}});
      if (!is_new) at->second.counter.count += counter.count;
      at->second.ranks.push_back(rank.info.rank);
    }
  }
  std::vector<ImportNote> notes;
  for (const auto& [key, merged] : by_kind) {
    const model::ImportCounter& counter = merged.counter;
    std::string text =
        fmt::format("{} × {}", format_count(static_cast<double>(counter.count)), counter.kind);
    if (counter.first_offset >= 0) {
      text += fmt::format(", first at byte {}", counter.first_offset);
    }
    if (report.timeline.ranks.size() > 1) {
      text += merged.ranks.size() == 1 ? fmt::format(" of rank {}", merged.ranks.front())
                                       : fmt::format(" of rank {}, in {} ranks",
                                                     merged.ranks.front(), merged.ranks.size());
    }
    if (!counter.help.empty()) text += ": " + counter.help;
    notes.push_back({!key.first, std::move(text)});
  }
  return notes;
}

namespace {

// What a check would have needed, by the reason for which it was not judged. Reasons that stand
// here with the same need count together.
struct Need {
  std::string_view reason;  // or its beginning
  std::string_view need;    // completes "needs …"
};
constexpr Need kNeeds[] = {
    {"a trace says nothing of",
     "a recording by pyrometer run, which watches machine and whole run"},
    {"the profiler did not record memory", "profile_memory=True in the profiler"},
    {"no allocator events were recorded", "profile_memory=True in the profiler"},
    {"needs at least two ranks", "several ranks, with a file of each"},
    {"it takes at least two ranks", "several ranks, with a file of each"},
    {"no device activity", "work on a GPU"},
    {"no kernels in the window", "work on a GPU"},
    {"the process used no GPU", "work on a GPU"},
    {"no runtime or driver calls", "work on a GPU"},
    {"no launch call with its device", "work on a GPU"},
    {"no operators or no runtime calls", "work on a GPU"},
    {"no step's device was watched", "work on a GPU"},
    {"memory was not recorded", "work on a GPU"},
    {"the allocator's statistics were not told", "work on a GPU"},
    {"the device's compute capability", "work on a GPU"},
    {"fewer than 20 readings", "a longer run"},
    {"fewer than 5 readings", "a longer run"},
    {"the steps lasted less than", "a longer run"},
};

std::string_view need_of(const std::string& reason) {
  for (const Need& need : kNeeds) {
    if (reason.starts_with(need.reason)) return need.need;
  }
  return {};
}

}  // namespace

std::string describe_not_judged(const Report& report) {
  const std::vector<model::NotJudged>& items = report.diagnosis.not_judged;
  if (items.empty()) return "";
  struct Group {
    std::string text;
    bool need = false;  // `text` completes "needs …"; else it is a reason
    std::int64_t count = 0;
  };
  std::vector<Group> groups;  // in order of first use
  for (const model::NotJudged& item : items) {
    const std::string_view need = need_of(item.reason);
    const std::string text = need.empty() ? item.reason : std::string(need);
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const Group& group) { return group.text == text; });
    if (same == groups.end()) {
      groups.push_back({text, !need.empty(), 1});
    } else {
      ++same->count;
    }
  }
  // What can be provided first.
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return a.need != b.need ? a.need : a.count > b.count;
  });
  constexpr std::size_t kShown = 3;
  std::string text = count_of(static_cast<std::int64_t>(items.size()), "check") + " not judged: ";
  std::int64_t left = static_cast<std::int64_t>(items.size());
  for (std::size_t i = 0; i < std::min(kShown, groups.size()); ++i) {
    const Group& group = groups[i];
    if (i > 0) text += "; ";
    text += fmt::format("{} ", group.count);
    text += group.need ? (group.count == 1 ? "needs " : "need ") : "because ";
    text += group.text;
    left -= group.count;
  }
  return text + (left > 0 ? fmt::format("; {} more, see -v", left) : "");
}

bool no_finding_above_info(const model::Diagnosis& diagnosis) {
  return std::all_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [](const model::Finding& f) { return f.severity == model::Severity::kInfo; });
}

std::string describe_health(const Report& report) {
  // The verdict says how many steps there are.
  constexpr std::string_view kTooFew = "Too few steps to judge";
  const bool judged = report.diagnosis.verdict.find(kTooFew) == std::string::npos;
  const std::string text =
      judged ? "Nothing found that is worth changing" : "No advice without steps to judge";
  const std::size_t open = report.diagnosis.not_judged.size();
  if (open == 0) return text + ".";
  return text + fmt::format("; {} could not be judged, see below.",
                            count_of(static_cast<std::int64_t>(open), "check"));
}

bool any_prediction(const model::Diagnosis& diagnosis) {
  return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [](const model::Finding& f) { return f.prediction.has_value(); });
}

bool is_recording(const Report& report) {
  return std::any_of(report.timeline.ranks.begin(), report.timeline.ranks.end(),
                     [](const model::RankTimeline& rank) { return rank.run != nullptr; });
}

bool joint_is_news(const model::Diagnosis& diagnosis) {
  if (!diagnosis.joint) return false;
  return std::count_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                       [](const model::Finding& f) { return f.prediction.has_value(); }) > 1;
}

model::Index detail_rank(const Report& report) {
  const auto& ranks = report.job.ranks;
  if (ranks.empty()) return model::kNone;
  if (report.job.cross.slow_rank < ranks.size()) return report.job.cross.slow_rank;
  for (model::Index i = 0; i < ranks.size(); ++i) {
    if (!ranks[i].waterfall.devices.empty()) return i;
  }
  return 0;
}

}  // namespace pyrometer::output
