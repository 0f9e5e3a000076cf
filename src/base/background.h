// A thread of the program's own that does something again and again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/result.h"

namespace pyrometer::base {

class Background {
 public:
  Background() = default;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() { stop(); }

  // Calls `work` once, on a thread that takes no signals; it ends when rest() says so. What it uses
  // must outlive this object, or be told to stop() first. Errors: kResource. Call once.
  [[nodiscard]] Result<void> start(std::function<void()> work);

  // For `work`: waits. True: it is over, return.
  [[nodiscard]] bool rest(std::chrono::nanoseconds time);

  // Waits until `work` has returned. May be called again, and without start().
  void stop();

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace pyrometer::base
