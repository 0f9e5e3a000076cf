#include "cli/recorded_trial.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "cli/failure_words.h"
#include "cli/install_paths.h"
#include "monitor/contained_child.h"
#include "monitor/interrupts.h"
#include "recording/progress.h"

namespace pyrometer::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{100};
constexpr seconds kGrace{10};  // to end, after it was asked to

// A program that floods its output must not fill the disk. It is written by appending, so what is
// cut off is gone and the rest goes on.
void bound_log(const std::string& path) {
  constexpr std::uintmax_t kMost = 64U << 20U;
  std::error_code error;
  if (std::filesystem::file_size(path, error) > kMost && !error) {
    std::filesystem::resize_file(path, 0, error);
  }
}

// The end of a log, where errors stand.
std::string tail_of(const std::string& path) {
  constexpr std::streamoff kMost = 16384;
  std::ifstream file(path, std::ios::binary);
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kMost));
  return {std::istreambuf_iterator<char>(file), {}};
}

// As PyTorch, CUDA, the kernel and Python say it.
bool says_out_of_memory(const std::string& text) {
  for (const std::string_view words : {"out of memory", "OutOfMemoryError", "MemoryError",
                                       "Cannot allocate memory", "can't allocate memory"}) {
    if (text.find(words) != text.npos) return true;
  }
  return false;
}

// Watches whether steps go on.
class Watchdog {
 public:
  Watchdog(const std::string& recording, seconds patience)
      : recording_(recording), patience_(patience), moved_(steady_clock::now()) {}

  [[nodiscard]] bool hangs() {
    if (patience_.count() == 0) return false;
    const auto now = steady_clock::now();
    if (now - looked_ < seconds{1}) return false;
    looked_ = now;
    std::int64_t steps = 0;
    if (const auto progress = recording::read_progress(recording_)) {
      for (const recording::Progress& one : *progress) steps += one.steps;
    }
    if (steps > steps_) {
      steps_ = steps;
      moved_ = now;
    }
    return now - moved_ > patience();
  }
  // Without a step; before the first one twice as long.
  [[nodiscard]] seconds patience() const { return steps_ == 0 ? 2 * patience_ : patience_; }

 private:
  std::string recording_;
  seconds patience_;
  steady_clock::time_point moved_;
  steady_clock::time_point looked_{};
  std::int64_t steps_ = 0;
};

// Waits for its end, less patiently from a second Ctrl-C on.
monitor::ChildEnd end_soon(monitor::ContainedChild& child) {
  const bool is_asked = monitor::Interrupts::signal() != 0;  // it was told by SIGINT
  if (!is_asked) return child.end(kGrace);
  const auto until = steady_clock::now() + kGrace;
  while (steady_clock::now() < until && monitor::Interrupts::count() < 2) {
    if (const auto ended = child.wait(kLook)) return *ended;
  }
  return child.end(monitor::Interrupts::count() < 2 ? kGrace : seconds{1});
}

}  // namespace

base::Result<TrialOutcome> run_trial(const TrialRequest& request) {
  monitor::ContainedCommand command{
      .words = {own_program(), "run", "--quiet", "-o", request.recording},
      .environment = request.environment,
      .folder = request.folder,
      .log = request.log};
  command.words.insert(command.words.end(), request.run_options.begin(), request.run_options.end());
  command.words.emplace_back("--");
  command.words.insert(command.words.end(), request.command.begin(), request.command.end());
  const auto start = steady_clock::now();
  auto child = monitor::ContainedChild::start(command);
  if (!child) return base::fail(child.error());
  TrialOutcome out;
  Watchdog watchdog(request.recording, request.patience);
  for (;;) {
    if (const auto ended = child->wait(kLook)) {
      out.end = *ended;
      break;
    }
    bound_log(request.log);
    const auto passed = steady_clock::now() - start;
    if (monitor::Interrupts::signal() != 0) {
      out.how = TrialEnd::kInterrupted;
    } else if (request.most.count() > 0 && passed > request.most) {
      out.how = TrialEnd::kOutOfTime;
    } else if (watchdog.hangs()) {
      out.how = TrialEnd::kHung;
      out.waited = watchdog.patience();
    } else {
      continue;
    }
    if (out.how == TrialEnd::kInterrupted) child->signal(SIGINT);
    out.end = end_soon(*child);
    break;
  }
  out.took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
  const bool failed = out.end.exit_code != 0;
  if (out.how == TrialEnd::kEnded && failed) out.how = TrialEnd::kFailed;
  if (failed) {
    const std::string tail = tail_of(request.log);
    // An exception that nobody caught gives 1; another end has its own reason.
    out.last_words = out.end.exit_code == 1 ? failure_words(tail) : last_line(tail);
    // The kernel's own way to say so is SIGKILL, which others send as well: only with words.
    out.out_of_memory = out.how == TrialEnd::kFailed && says_out_of_memory(tail);
  }
  return out;
}

}  // namespace pyrometer::cli
