// Which GPUs a rank is billed for.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::cost {

// The ordinals of the devices that it was seen to run on, in the analysed window or in any step of
// the run.
[[nodiscard]] inline std::set<std::int32_t> used_gpus(const model::RankTimeline& timeline,
                                                      const model::RankAnalysis& analysis) {
  std::set<std::int32_t> used;
  for (const model::DeviceWaterfall& device : analysis.waterfall.devices) {
    if (device.window.length() > 0) used.insert(timeline.devices[device.device].ordinal);
  }
  if (timeline.run == nullptr) return used;
  for (const model::RecordedStep& step : timeline.run->steps) {
    if (step.device >= 0) used.insert(step.device);
  }
  return used;
}

// How many GPUs' worth of a job's time and peak a rank stands for: a GPU that n ranks share counts
// 1/n for each. By uuid, where the recording knows it; otherwise every rank has GPUs of its own.
class GpuShares {
 public:
  GpuShares(const model::Timeline& timeline, const model::JobAnalysis& job) {
    for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
      of_rank_.emplace_back();
      for (const std::int32_t ordinal : used_gpus(timeline.ranks[r], job.ranks[r])) {
        of_rank_[r].push_back(identity(timeline.ranks[r], r, ordinal));
        ++ranks_[of_rank_[r].back()];
      }
    }
  }
  [[nodiscard]] double of(std::size_t rank) const {
    double sum = 0;
    for (const std::string& gpu : of_rank_[rank]) sum += 1.0 / ranks_.at(gpu);
    return sum;
  }
  // The rank's GPUs, each by a text that is the same for all ranks that share it.
  [[nodiscard]] const std::vector<std::string>& gpus(std::size_t rank) const {
    return of_rank_[rank];
  }
  // Of all ranks together.
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(ranks_.size()); }

 private:
  static std::string identity(const model::RankTimeline& rank, std::size_t position,
                              std::int32_t ordinal) {
    if (rank.run != nullptr) {
      for (const model::UsedDevice& device : rank.run->devices) {
        if (device.ordinal == ordinal && !device.uuid.empty()) return device.uuid;
      }
    }
    return std::to_string(position) + " " + std::to_string(ordinal);
  }

  std::vector<std::vector<std::string>> of_rank_;
  std::map<std::string, int> ranks_;  // by GPU: how many ranks use it
};

}  // namespace pyrometer::cost
