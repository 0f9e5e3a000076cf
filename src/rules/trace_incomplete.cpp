#include "rules/trace_incomplete.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "trace.incomplete";

}  // namespace

void judge_trace_incomplete(const Context& context, Judgement& judgement) {
  Verdict verdict = start_verdict(kId, Role::kNote);
  model::Finding& finding = verdict.finding;
  std::string what;
  bool lost = false;
  for (const model::RankTimeline& rank : context.timeline().ranks) {
    bool here = false;
    for (const model::ImportCounter& counter : rank.stats.counters()) {
      if (counter.severity != model::StatSeverity::kDataLoss || counter.count == 0) continue;
      here = lost = true;
      add_measure(context, verdict, counter.kind, static_cast<double>(counter.count), "count", {},
                  counter.help);
    }
    if (here) finding.ranks.push_back(rank.info.rank);
  }
  if (lost) what = "Events were lost or unreadable";
  std::string unwatched;
  for (const model::RankTimeline& rank : context.timeline().ranks) {
    const std::string why = capture_refused(rank);
    if (why.empty()) continue;
    unwatched = why;
    finding.ranks.push_back(rank.info.rank);
  }
  if (!unwatched.empty()) {
    what += what.empty() ? "" : "; ";
    what += "the GPU was not watched, and what ran there is not in this recording: " + unwatched;
  }
  const auto unlinked = context.largest(FactId::kLaunchLostShare);
  const double limit = context.threshold(kId, "lost_launches");
  if (unlinked && unlinked->value > limit) {
    what += what.empty() ? "" : "; ";
    what +=
        fmt::format("{} of the device activities have no launch call", percent(unlinked->value));
    add_evidence(context, verdict, FactId::kLaunchLostShare, unlinked->value, "lost_launches");
    lost = lost || context.timeline().ranks.front().has_host_events();
  }
  const std::int32_t world = context.timeline().ranks.front().info.world_size;
  const auto seen = static_cast<std::int32_t>(context.timeline().ranks.size());
  if (world > seen) {
    what += what.empty() ? "" : "; ";
    what += fmt::format(
        "of {} ranks only {} {} here: waiting for the others cannot be told from communication",
        world, seen, seen == 1 ? "is" : "are");
    add_measure(context, verdict, "ranks missing", world - seen, "count");
  }
  bool guessed = false;
  for (const model::RankTimeline& rank : context.timeline().ranks) {
    guessed = guessed || rank.info.source == model::RankSource::kOrder;
  }
  const std::size_t count = context.timeline().ranks.size();
  if (count > 1 && guessed && !context.job().cross.matched) {
    what += what.empty() ? "" : "; ";
    what += fmt::format(
        "nothing in the {} files says that they belong to one job: if they do not, analyze them "
        "one "
        "by one",
        count);
    add_measure(context, verdict, "files taken as ranks by their order", static_cast<double>(count),
                "count");
    lost = true;
  }
  if (what.empty()) return;
  // Missing ranks are a choice of the user's; lost events are not.
  finding.severity = lost ? model::Severity::kWarning : model::Severity::kInfo;
  finding.confidence = model::Confidence::kHigh;
  if (what.front() >= 'a' && what.front() <= 'z') {
    what.front() = static_cast<char>(what.front() - 'a' + 'A');
  }
  const bool recording = context.recording();
  if (recording) {
    finding.title = "The recording is incomplete";
    finding.fix = "Record again, with enough space on the disk and in /dev/shm.";
    finding.fix_code.clear();
  }
  if (!lost) {
    finding.fix = recording ? "Give the recordings of all hosts at once, where there are any."
                            : "Give the traces of all ranks at once, where there are any.";
    finding.fix_code =
        recording ? "pyrometer analyze host1.pyro host2.pyro" : "pyrometer analyze traces/";
  }
  if (!unwatched.empty()) {
    finding.severity = model::Severity::kWarning;
    finding.fix = "Where another tool has the GPU's tracing interface, record again without it.";
    finding.fix_code.clear();
  }
  finding.summary = what + ".";
  finding.no_prediction = "nothing to gain, only to know";
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
