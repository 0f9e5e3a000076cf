#include "cli/progress_line.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>

namespace pyrometer::cli {
namespace {

std::string reading_text(const importers::Progress& progress) {
  constexpr double kMegabyte = 1e6;
  const auto done = static_cast<double>(progress.bytes_done.load(std::memory_order_relaxed));
  const auto total = static_cast<double>(progress.bytes_total.load(std::memory_order_relaxed));
  if (total <= 0) return fmt::format("reading {:.0f} MB", done / kMegabyte);
  return fmt::format("reading {:.0f} of {:.0f} MB", done / kMegabyte, total / kMegabyte);
}

void draw(std::string_view text) {
  constexpr std::string_view kClearLine = "\r\033[K";
  std::string line(kClearLine);
  line += text;
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

}  // namespace

ProgressLine::ProgressLine(const importers::Progress& progress, bool enabled)
    : progress_(progress) {
  if (enabled) thread_ = std::thread([this] { run(); });
}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ProgressLine::set_phase(std::string_view phase) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
}

void ProgressLine::run() {
  constexpr std::chrono::milliseconds kSilence{1000};
  constexpr std::chrono::milliseconds kInterval{200};
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, kSilence, [this] { return stop_; })) return;
  do {
    draw(phase_.empty() ? reading_text(progress_) : std::string(phase_));
  } while (!changed_.wait_for(lock, kInterval, [this] { return stop_; }));
  draw("");
}

}  // namespace pyrometer::cli
