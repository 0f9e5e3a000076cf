#include "cli/recorded_ranks.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "recording/progress.h"
#include "server/recording_finder.h"
#include "sources/source.h"

namespace pyrometer::cli {
namespace {

class RecordedRanks {
 public:
  explicit RecordedRanks(std::string root) : root_(std::move(root)) {}

  std::optional<std::int32_t> rank_of(int recorder, int pid) {
    constexpr std::int64_t kReadAgain = 2'000'000'000;
    const std::int64_t now = sources::monotonic_ns();
    std::erase_if(known_,
                  [now](const auto& item) { return now - item.second.read_ns >= kReadAgain; });
    auto found = known_.find(recorder);
    if (found == known_.end()) found = known_.emplace(recorder, read(recorder, now)).first;
    const auto rank = found->second.ranks.find(pid);
    return rank == found->second.ranks.end() ? std::nullopt : std::optional(rank->second);
  }

 private:
  struct Entry {
    std::int64_t read_ns = 0;
    std::map<int, std::int32_t> ranks;  // by process
  };

  [[nodiscard]] Entry read(int recorder, std::int64_t now) const {
    Entry entry{.read_ns = now, .ranks = {}};
    for (const server::FoundRecording& one : server::find_open_of(root_, recorder)) {
      const auto progress = recording::read_progress(one.path);
      if (!progress) continue;  // not written yet, or of another version
      for (const recording::Progress& process : *progress) {
        if (process.rank >= 0) entry.ranks[process.pid] = process.rank;
      }
    }
    return entry;
  }

  std::string root_;
  std::map<int, Entry> known_;  // by recorder
};

}  // namespace

sources::RankLookup recorded_ranks(std::string root) {
  // Shared by the copies of the function.
  return [ranks = std::make_shared<RecordedRanks>(std::move(root))](int recorder, int pid) {
    return ranks->rank_of(recorder, pid);
  };
}

}  // namespace pyrometer::cli
