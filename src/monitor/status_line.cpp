#include "monitor/status_line.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>

namespace pyrometer::monitor {
namespace {

void write_stderr(const std::string& text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

// Neither in the background, where writing may stop the monitor, nor on a terminal that is held up
// (Ctrl-S), where it would wait.
bool may_write() {
  pollfd terminal{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return ::tcgetpgrp(STDERR_FILENO) == ::getpgrp() && ::poll(&terminal, 1, 0) == 1 &&
         (terminal.revents & POLLOUT) != 0;
}

}  // namespace

std::string status_text(const LiveState& state) {
  if (state.steps == 0) return {};
  std::string text = fmt::format("step {}", state.steps);
  if (state.step_time > 0) {
    text += fmt::format(" · {:.3g} ms/step", static_cast<double>(state.step_time) / 1e6);
  }
  if (state.samples_per_second >= 0) {
    text += fmt::format(" · {:.4g} samples/s", state.samples_per_second);
  }
  const auto whole = static_cast<double>(model::total(state.causes));
  if (whole <= 0) return text;
  text += fmt::format(" · GPU busy {:.0f}%",
                      100 * static_cast<double>(model::busy_time(state.causes)) / whole);
  std::size_t largest = model::kCauseCount;
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    if (model::cause_info(static_cast<model::Cause>(i)).group != model::CauseGroup::kIdle) continue;
    if (largest == model::kCauseCount || state.causes[i] > state.causes[largest]) largest = i;
  }
  constexpr double kWorthSaying = 0.02;
  const double share = static_cast<double>(state.causes[largest]) / whole;
  if (share >= kWorthSaying) {
    text += fmt::format(" · {} {:.0f}%", model::cause_info(static_cast<model::Cause>(largest)).id,
                        100 * share);
  }
  return text;
}

void StatusLine::show(const std::string& text) {
  if (place_ == Place::kNowhere || text.empty() || !may_write()) return;
  if (place_ == Place::kTitle) {
    write_stderr("\033]2;pyrometer: " + text + "\a");
  } else {
    write_stderr("\r\033[Kpyrometer: " + text);
  }
  shown_ = true;
}

void StatusLine::clear() {
  if (!shown_ || !may_write()) return;
  write_stderr(place_ == Place::kTitle ? "\033]2;\a" : "\r\033[K");
  shown_ = false;
}

}  // namespace pyrometer::monitor
