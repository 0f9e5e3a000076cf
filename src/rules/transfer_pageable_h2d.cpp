#include "rules/transfer_pageable_h2d.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/gpu_table.h"
#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "transfer.pageable_h2d";
// Pinned copies reach this part of the link's nominal rate: 54.7 of 63 GB/s on an H200.
constexpr double kLinkEfficiency = 0.87;
constexpr double kSlowPinned = 1.5;  // a worse link (shared, or PCIe lanes missing)

// What pinned copies reach: measured in the same trace, else the GPU's link; 0 when unknown. GB/s.
double pinned_bandwidth(const Context& context, std::size_t position) {
  const auto measured =
      context.job().ranks[position].facts.value(FactId::kCopiesH2dPinnedBandwidth);
  if (measured) return *measured;
  for (const model::Device& device : context.timeline().ranks[position].devices) {
    const model::GpuInfo* gpu = model::find_gpu({.name = device.name,
                                                 .memory_bytes = device.total_memory_bytes,
                                                 .multiprocessors = device.multiprocessors})
                                    .gpu;
    if (gpu != nullptr && gpu->pcie_gbs > 0) return gpu->pcie_gbs * kLinkEfficiency;
  }
  return 0;
}

analysis::Edit pinned(double time, bool overlapped) {
  analysis::Edit edit;
  edit.h2d_time = time;
  edit.copies_async = true;
  edit.h2d_overlapped = overlapped;
  return edit;
}

}  // namespace

void judge_transfer_pageable_h2d(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kCopiesH2dPageableShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kCopiesH2dPageableShare));
  const model::FactSet& facts = context.job().ranks[share->position].facts;
  const auto bandwidth = facts.value(FactId::kCopiesH2dPageableBandwidth);
  if (!bandwidth || share->value < context.threshold(kId, "warn")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = severity_for(context, kId, share->value);
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = share->value;
  finding.ranks =
      context.ranks_with(FactId::kCopiesH2dPageableShare, context.threshold(kId, "warn"));
  const double link = pinned_bandwidth(context, share->position);
  const double bytes = facts.value_or(FactId::kCopiesH2dPageableBytesPerStep, 0);
  finding.summary = fmt::format(
      "{} per step go to the device from pageable memory at {:.1f} GB/s{}; the copies take "
      "{} of the time and block the host.",
      rules::bytes(bytes), *bandwidth,
      link > 0 ? fmt::format(" (pinned: about {:.0f} GB/s)", link) : std::string(),
      percent(share->value));
  add_evidence(context, verdict, FactId::kCopiesH2dPageableShare, share->value,
               share->value >= context.threshold(kId, "critical") ? "critical" : "warn");
  add_evidence(context, verdict, FactId::kCopiesH2dPageableBandwidth, *bandwidth);
  add_evidence(context, verdict, FactId::kCopiesH2dPageableBytesPerStep, bytes);
  if (link <= 0) {
    finding.no_prediction = "the link's bandwidth is not known for this GPU";
  } else {
    const double ratio = std::min(1.0, *bandwidth / link);
    set_edits(verdict, pinned(ratio, true), pinned(ratio, true),
              pinned(std::min(1.0, ratio * kSlowPinned), false),
              fmt::format("pinned copies at about {:.0f} GB/s that do not block the host; at best "
                          "hidden behind the step",
                          link));
  }
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules
