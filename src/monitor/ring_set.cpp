#include "monitor/ring_set.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace pyrometer::monitor {

namespace fs = std::filesystem;

void RingSet::find_new() {
  std::error_code none;
  std::set<std::string> present;
  for (const auto& entry : fs::directory_iterator(folder_, none)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".noroom")) without_room_.insert(name);
    if (name.starts_with('.') || !name.ends_with(".ring")) continue;
    present.insert(name);
    if (known_.contains(name)) continue;
    auto reader = ring::Reader::open(entry.path());
    if (!reader) {
      writer_.add_note(0, "warning",
                       "a process could not be recorded: " + reader.error().to_string());
      continue;
    }
    recorders_.push_back(std::make_unique<ProcessRecorder>(std::move(*reader), next_id_++, writer_,
                                                           configs_, options_));
  }
  known_ = std::move(present);
}

std::size_t RingSet::drain() {
  find_new();
  std::size_t records = 0;
  for (const auto& recorder : recorders_) records += recorder->drain();
  return records;
}

// Ranks of one job are watched at the same time: what they wait for is seen only where all of them
// are. The duty cycle of the leading one holds for all.
void RingSet::advance(model::TimeNs now) {
  std::optional<bool> capture;
  std::int32_t ranks = 0;
  if (const ProcessRecorder* first = leading(); first != nullptr) {
    ranks = first->process().world_size;
    const auto owner = std::find_if(recorders_.begin(), recorders_.end(),
                                    [first](const auto& one) { return one.get() == first; });
    if (ranks > 1) capture = (*owner)->wants_capture(now);
  }
  for (auto& recorder : recorders_) {
    if (!recorder->ended()) {
      const bool same_job =
          recorder->process().rank >= 0 && recorder->process().world_size == ranks;
      recorder->advance(now, same_job ? capture : std::nullopt);
      continue;
    }
    recorder->finish(now);
    if (recorder->took_part()) ++trained_;
    recorder.reset();
  }
  std::erase(recorders_, nullptr);
}

void RingSet::finish(model::TimeNs now) {
  (void)drain();
  for (auto& recorder : recorders_) {
    recorder->ask_to_end();
    recorder->finish(now);
    if (recorder->took_part()) ++trained_;
  }
  recorders_.clear();
}

void RingSet::abandon() {
  for (auto& recorder : recorders_) {
    if (recorder != nullptr) recorder->ask_to_end();
  }
  recorders_.clear();
}

const ProcessRecorder* RingSet::leading() const {
  const ProcessRecorder* best = nullptr;
  const auto before = [](const ProcessRecorder& a, const ProcessRecorder& b) {
    if (a.took_part() != b.took_part()) return a.took_part();
    return a.process().rank >= 0 && (b.process().rank < 0 || a.process().rank < b.process().rank);
  };
  for (const auto& recorder : recorders_) {
    if (best == nullptr || before(*recorder, *best)) best = recorder.get();
  }
  return best;
}

}  // namespace pyrometer::monitor
