#include "base/background.h"

#include <system_error>
#include <utility>

#include "base/thread_signals.h"

namespace pyrometer::base {

Result<void> Background::start(std::function<void()> work) {
  const SignalsHeldBack held;
  try {
    thread_ = std::thread(std::move(work));
  } catch (const std::system_error& problem) {
    return fail({.kind = ErrorKind::kResource,
                 .message = std::string("cannot start another thread: ") + problem.what(),
                 .advice = "Raise the limit on processes (ulimit -u)"});
  }
  return {};
}

bool Background::rest(std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  return over_.wait_for(lock, time, [this] { return is_over_; });
}

void Background::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace pyrometer::base
