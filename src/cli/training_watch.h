// Follows the recordings that are being written on this machine, in the background.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/background.h"
#include "base/result.h"
#include "readout/training.h"
#include "rules/rule.h"

namespace pyrometer::cli {

// A recording that is played instead, and where it stands (CLOCK_MONOTONIC of the recording).
struct PlayedRecording {
  std::string file;
  std::function<std::int64_t()> now;
};

class TrainingWatch {
 public:
  // `root`: prefix of /proc.
  TrainingWatch(std::string root, rules::Settings settings,
                std::optional<PlayedRecording> played = std::nullopt);
  TrainingWatch(const TrainingWatch&) = delete;
  TrainingWatch& operator=(const TrainingWatch&) = delete;

  // Errors: kResource. Call once.
  [[nodiscard]] base::Result<void> start();
  // Never null, never waits. Any thread.
  [[nodiscard]] std::shared_ptr<const readout::Trainings> trainings() const;

 private:
  // The diagnosis of a recording, made once in a while: it costs far more than its progress.
  struct Judged {
    std::int64_t due_ns = 0;
    // By rank, and see the source.
    std::map<std::int32_t, std::pair<std::string, model::Severity>> findings;
  };
  void work();
  void look();
  void judge(const std::string& path, Judged& judged);
  [[nodiscard]] std::vector<std::string> files() const;

  std::string root_;
  rules::Settings settings_;
  std::optional<PlayedRecording> played_;
  std::map<std::string, Judged> judged_;  // of the thread alone

  mutable std::mutex mutex_;
  std::shared_ptr<const readout::Trainings> trainings_ = std::make_shared<readout::Trainings>();
  base::Background background_;  // last: it must end before the rest goes
};

}  // namespace pyrometer::cli
