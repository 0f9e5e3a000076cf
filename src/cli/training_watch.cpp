#include "cli/training_watch.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "analysis/pass.h"
#include "analysis/what_if.h"
#include "recording/progress.h"
#include "recording/reader.h"
#include "rules/rule.h"
#include "server/recording_finder.h"
#include "sources/source.h"

namespace pyrometer::cli {
namespace {

using readout::Training;

constexpr std::size_t kMostRecordings = 64;
constexpr auto kPeriod = std::chrono::seconds(2);
constexpr std::int64_t kBetweenDiagnoses = 30'000'000'000;
constexpr std::int64_t kFirstDiagnosis = 5'000'000'000;  // later than the first sight of it
// A diagnosis may take at most this part of a CPU's time.
constexpr std::int64_t kPartOfTime = 50;
// Keys of findings beside the ranks' numbers.
constexpr std::int32_t kFirst = -1;  // for processes that have no rank
constexpr std::int32_t kEveryRank = -2;

Training training_of(const recording::Progress& progress, const std::string& path) {
  Training training{.file = path, .rank = progress.rank, .steps = progress.steps};
  if (progress.step_ns > 0) training.step_ns = static_cast<double>(progress.step_ns);
  if (progress.samples_per_second > 0) training.samples_per_second = progress.samples_per_second;
  const auto whole = static_cast<double>(model::total(progress.causes));
  for (std::size_t i = 0; i < model::kCauseCount && whole > 0; ++i) {
    if (progress.causes[i] <= 0) continue;
    const model::CauseInfo& info = model::cause_info(static_cast<model::Cause>(i));
    training.shares.push_back({.cause = info.title,
                               .group = info.group,
                               .share = static_cast<double>(progress.causes[i]) / whole});
  }
  std::ranges::stable_sort(training.shares, std::ranges::greater{}, &Training::Share::share);
  return training;
}

}  // namespace

TrainingWatch::TrainingWatch(std::string root, rules::Settings settings,
                             std::optional<PlayedRecording> played)
    : root_(std::move(root)), settings_(std::move(settings)), played_(std::move(played)) {}

base::Result<void> TrainingWatch::start() {
  return background_.start([this] { work(); });
}

std::shared_ptr<const readout::Trainings> TrainingWatch::trainings() const {
  const std::lock_guard lock(mutex_);
  return trainings_;
}

void TrainingWatch::judge(const std::string& path, Judged& judged) {
  const std::int64_t begin = sources::monotonic_ns();
  if (const auto timeline = recording::read_recording(path)) {
    std::unique_ptr<analysis::WhatIf> what_if;
    const model::JobAnalysis job =
        analysis::run_passes(*timeline, {.threads = 1, .what_if = &what_if});
    const model::Diagnosis diagnosis = rules::diagnose(*timeline, job, *what_if, settings_);
    judged.findings.clear();
    for (const model::Finding& finding : diagnosis.findings) {
      const std::pair said(finding.title, finding.severity);
      judged.findings.emplace(kFirst, said);
      if (finding.ranks.empty()) judged.findings.emplace(kEveryRank, said);
      for (const std::int32_t rank : finding.ranks) judged.findings.emplace(rank, said);
    }
  }
  const std::int64_t end = sources::monotonic_ns();
  judged.due_ns = end + std::max(kBetweenDiagnoses, (end - begin) * kPartOfTime);
}

std::vector<std::string> TrainingWatch::files() const {
  if (played_) return {played_->file};
  std::vector<std::string> files;
  for (const server::FoundRecording& running : server::find_open(root_, kMostRecordings)) {
    files.push_back(running.path);
  }
  return files;
}

void TrainingWatch::look() {
  auto next = std::make_shared<readout::Trainings>();
  std::set<std::string> seen;
  std::optional<std::int64_t> moment;
  if (played_) moment = played_->now();
  for (const std::string& file : files()) {
    const auto progress = recording::read_progress(file, moment);
    if (!progress) continue;  // not written yet, or of another version
    seen.insert(file);
    Judged& judged =
        judged_.try_emplace(file, Judged{.due_ns = sources::monotonic_ns() + kFirstDiagnosis})
            .first->second;
    for (const recording::Progress& one : *progress) {
      Training training = training_of(one, file);
      auto found = judged.findings.find(one.rank < 0 ? kFirst : one.rank);
      if (found == judged.findings.end() && one.rank >= 0) {
        found = judged.findings.find(kEveryRank);
      }
      if (found != judged.findings.end()) {
        training.finding = found->second.first;
        training.severity = found->second.second;
      }
      next->insert_or_assign(one.pid, std::move(training));
    }
  }
  std::erase_if(judged_, [&](const auto& entry) { return !seen.contains(entry.first); });
  const std::lock_guard lock(mutex_);
  trainings_ = std::move(next);
}

void TrainingWatch::work() {
  // Whatever else wants the CPU goes first. Linux has this by thread.
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, 19));
  while (true) {
    // A recording that cannot be understood is shown without what it would tell.
    try {
      look();
      // One at a time: progress stays fresh between two of them.
      for (auto& [path, judged] : judged_) {
        if (sources::monotonic_ns() < judged.due_ns) continue;
        judge(path, judged);
        break;
      }
    } catch (const std::exception&) {
    }
    if (background_.rest(kPeriod)) return;
  }
}

}  // namespace pyrometer::cli
