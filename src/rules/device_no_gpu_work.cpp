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
  std::string text;       // a clause
  std::string fix;        // sentences
  bool no_other = false;  // there is no GPU that could have been used
};

// Why the process used no GPU, as far as the recorder and the hook could tell; nearest cause first.
Reason reason_of(const model::RecordedRun& run) {
  const auto text = [&run](const char* key) {
    const auto found = run.info.find(key);
    return found == run.info.end() ? std::string() : found->second;
  };
  // What the program did to itself holds on any machine.
  constexpr std::string_view kVariable = "CUDA_VISIBLE_DEVICES=";
  const std::string hidden = text("cuda.hidden");
  const std::string outside = text("machine.cuda_visible_devices");
  const bool was_set = run.info.contains("machine.cuda_visible_devices");
  if (hidden.starts_with(kVariable) && !(was_set && hidden.substr(kVariable.size()) == outside)) {
    return {fmt::format("the program itself sets CUDA_VISIBLE_DEVICES to \"{}\", which hides all "
                        "GPUs",
                        hidden.substr(kVariable.size())),
            "Leave the variable alone, or name the GPUs to use, such as CUDA_VISIBLE_DEVICES=0."};
  }
  if (const std::string missing = text("machine.gpu_missing"); !missing.empty()) {
    return {missing, text("machine.gpu_advice"), text("machine.gpu_none") == "1"};
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

std::string why_no_gpu(const model::RankTimeline& rank) {
  if (rank.run == nullptr || !capture_refused(rank).empty()) return {};
  return reason_of(*rank.run).text;
}

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
  finding.confidence = model::Confidence::kHigh;
  const std::size_t ranks = context.timeline().ranks.size();
  const model::RankTimeline& first =
      *std::find_if(context.timeline().ranks.begin(), context.timeline().ranks.end(),
                    [](const model::RankTimeline& rank) {
                      return rank.activities.size() == 0 && capture_refused(rank).empty();
                    });
  const bool recording = first.run != nullptr;
  if (ranks > 1) {
    finding.summary = fmt::format("On {} of {} ranks n", finding.ranks.size(), ranks);
    if (finding.ranks.size() == ranks) finding.summary = fmt::format("On all {} ranks n", ranks);
  } else {
    finding.summary = "N";
  }
  finding.summary += "either a kernel nor a copy ";
  finding.summary += recording ? "ran on a GPU" : "on a GPU is in the trace: host activity only";
  const Reason reason = recording ? reason_of(*first.run) : Reason{};
  // A machine without a GPU is a fact to know, not a fault of the program: what slows the training
  // on its CPUs is.
  finding.severity = reason.no_other ? model::Severity::kInfo : model::Severity::kWarning;
  finding.share_of_time = reason.no_other ? 0 : 1;
  finding.summary += reason.text.empty() ? "." : ": " + reason.text + ".";
  if (recording) {
    finding.fix = reason.fix.empty()
                      ? "Check the build of PyTorch, the driver and CUDA_VISIBLE_DEVICES."
                      : reason.fix;
    if (!finding.fix.ends_with('.')) finding.fix += '.';
    if (!reason.fix.empty()) finding.fix_code.clear();
  }
  finding.no_prediction = "without device activity there is nothing to replay";
  add_measure(context, verdict, "device activities", 0, "count");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
