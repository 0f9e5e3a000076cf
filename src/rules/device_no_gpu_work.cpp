#include "rules/device_no_gpu_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "device.no_gpu_work";

struct Reason {
  std::string text;  // a clause
  std::string fix;   // sentences
};

// Why the process used no GPU, as far as the recorder and the hook could tell; nearest cause first.
Reason reason_of(const model::RecordedRun& run) {
  const auto text = [&run](const char* key) {
    const auto found = run.info.find(key);
    return found == run.info.end() ? std::string() : found->second;
  };
  if (const std::string missing = text("machine.gpu_missing"); !missing.empty()) {
    return {missing, text("machine.gpu_advice")};
  }
  if (text("torch.cuda_build") == "none") {
    return {
        fmt::format("this PyTorch ({}) was built without CUDA", text("torch.version")),
        "Install a build of PyTorch for CUDA: https://pytorch.org/get-started/locally shows the "
        "command."};
  }
  if (text("cuda.initialized") == "False") {
    return {"a GPU is there, and the program never turned to it",
            "Move the model and each batch to it: model.to('cuda'), batch.to('cuda')."};
  }
  return {};
}

}  // namespace

void judge_device_no_gpu_work(const Context& context, Judgement& judgement) {
  Verdict verdict = start_verdict(kId, Role::kNote);
  model::Finding& finding = verdict.finding;
  std::string unwatched;
  for (const model::RankTimeline& rank : context.timeline().ranks) {
    if (rank.activities.size() > 0) continue;
    if (const std::string why = capture_refused(rank); !why.empty()) {
      unwatched = why;
    } else {
      finding.ranks.push_back(rank.info.rank);
    }
  }
  if (finding.ranks.empty()) {
    if (!unwatched.empty()) not_judged(judgement, kId, "the GPU was not watched: " + unwatched);
    return;
  }
  finding.severity = model::Severity::kWarning;
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = 1;
  const std::size_t ranks = context.timeline().ranks.size();
  const bool all = finding.ranks.size() == ranks;
  finding.summary =
      (ranks == 1
           ? std::string("The trace holds")
           : fmt::format("{} of {} ranks recorded",
                         all ? std::string("All") : std::to_string(finding.ranks.size()), ranks)) +
      " host activity only, no kernel and no copy on a device.";
  const model::RankTimeline& first =
      *std::find_if(context.timeline().ranks.begin(), context.timeline().ranks.end(),
                    [](const model::RankTimeline& rank) {
                      return rank.activities.size() == 0 && capture_refused(rank).empty();
                    });
  if (first.run != nullptr) {
    Reason reason = reason_of(*first.run);
    if (!reason.text.empty()) finding.summary += " The reason: " + reason.text + ".";
    if (!reason.fix.empty()) {
      finding.fix = std::move(reason.fix);
      finding.fix_code.clear();
    }
  }
  finding.no_prediction = "without device activity there is nothing to replay";
  add_measure(context, verdict, "device activities", 0, "count");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
