#include "server/recording_watch.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "server/recording_finder.h"
#include "sources/source.h"

namespace pyrometer::server {
namespace {

constexpr std::int64_t kListedForMs = 3'600'000;
constexpr std::int64_t kGrowsWithinMs = 15'000;  // a recorder commits once a second
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30U;
constexpr double kRest = 20;  // times as long as the reading took
constexpr int kLowestPriority = 19;

std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// "train-1", and where another folder has one of the same name, "train-1@runs".
std::string name_for(const std::string& path, const std::map<std::string, std::string>& taken) {
  const std::filesystem::path file(path);
  std::string name = file.stem().string();
  if (!taken.contains(name)) return name;
  name += "@" + file.parent_path().filename().string();
  const std::string base = name;
  for (int i = 2; taken.contains(name); ++i) name = base + "-" + std::to_string(i);
  return name;
}

}  // namespace

struct RecordingWatch::State {
  explicit State(RecordingWatchOptions given) : options(std::move(given)) {}

  void run();
  void look();
  [[nodiscard]] std::vector<FoundRecording> find() const;
  [[nodiscard]] bool wait(std::int64_t nanoseconds);
  void publish();

  RecordingWatchOptions options;
  // The thread's own:
  struct Entry {
    RecordingStatus status;
    std::int64_t read_changed_ms = 0;  // its age when it was read
    std::int64_t read_bytes = -1;
  };
  std::map<std::string, Entry> known;  // by path

  mutable std::mutex mutex;
  std::condition_variable wake;
  bool is_over = false;
  RecordingList list = std::make_shared<const std::vector<RecordingStatus>>();
};

void RecordingWatch::State::publish() {
  auto next = std::make_shared<std::vector<RecordingStatus>>();
  for (const auto& [path, entry] : known) next->push_back(entry.status);
  std::ranges::sort(*next, {}, &RecordingStatus::name);
  const std::lock_guard lock(mutex);
  list = std::move(next);
}

// False at the end.
bool RecordingWatch::State::wait(std::int64_t nanoseconds) {
  std::unique_lock lock(mutex);
  return !wake.wait_for(lock, std::chrono::nanoseconds(nanoseconds), [this] { return is_over; });
}

std::vector<FoundRecording> RecordingWatch::State::find() const {
  if (!options.played.empty()) return find_file(options.played);
  return options.folders.empty() ? find_open(options.root, kMostRecordings)
                                 : find_in_folders(options.folders, kMostRecordings);
}

void RecordingWatch::State::look() {
  const std::vector<FoundRecording> found = find();
  const std::int64_t now = unix_ms_now();
  const bool is_played = !options.played.empty();
  std::map<std::string, std::string> names;
  for (const auto& [path, entry] : known) names[entry.status.name] = path;
  for (const FoundRecording& one : found) {
    if (now - one.changed_ms > kListedForMs && !one.is_open && !is_played) continue;
    const bool is_new = !known.contains(one.path);
    Entry& entry = known[one.path];
    if (is_new) {
      entry.status.path = one.path;
      entry.status.name = name_for(one.path, names);
      names[entry.status.name] = one.path;
    }
    entry.status.changed_ms = one.changed_ms;
    entry.status.bytes = one.bytes;
  }
  for (auto& [path, entry] : known) {
    std::error_code none;
    const bool is_there = std::filesystem::exists(path, none);
    entry.status.is_growing =
        is_there && (is_played || now - entry.status.changed_ms <= kGrowsWithinMs);
    if (!is_there) entry.status.changed_ms = 0;
  }
  std::erase_if(known, [&](const auto& item) {
    return !is_played && now - item.second.status.changed_ms > kListedForMs;
  });
  publish();
}

void RecordingWatch::State::run() {
  // Of this thread alone.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kLowestPriority);
  do {
    look();
    for (auto& [path, entry] : known) {
      RecordingStatus& status = entry.status;
      if (entry.read_changed_ms == status.changed_ms && entry.read_bytes == status.bytes) continue;
      entry.read_changed_ms = status.changed_ms;
      entry.read_bytes = status.bytes;
      if (status.bytes > kMostBytes) {
        status.problem = "larger than 1 GiB: use pyrometer analyze";
      } else {
        analyse(status, options.cost, options.rules);
        ::malloc_trim(0);
      }
      publish();
      if (!wait(static_cast<std::int64_t>(status.analysis_seconds * kRest * 1e9))) return;
    }
  } while (wait(options.period.count()));
}

RecordingWatch::RecordingWatch(RecordingWatchOptions options)
    : state_(std::make_shared<State>(std::move(options))) {}

RecordingWatch::~RecordingWatch() {
  const std::lock_guard lock(state_->mutex);
  state_->is_over = true;
  state_->wake.notify_all();
}

void RecordingWatch::start() {
  try {
    std::thread([state = state_] { state->run(); }).detach();
  } catch (const std::system_error&) {
  }
}

RecordingList RecordingWatch::list() const {
  const std::lock_guard lock(state_->mutex);
  return state_->list;
}

}  // namespace pyrometer::server
