// Independent pieces of work, spread over threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace pyrometer::base {

// Threads to use where 0 stands for one per core.
[[nodiscard]] inline unsigned thread_count(unsigned asked) {
  return asked > 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

// Calls work(i) once for every i in [0, count), each on one of at most `threads` threads, the
// calling one among them. Returns when all are done. What a call throws is thrown again here, once
// all threads have stopped; calls that had not begun by then are left out.
template <typename Work>
void for_each_index(std::size_t count, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;  // guarded by mutex
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    try {
      for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) {
        helpers.emplace_back(run);
      }
    } catch (const std::system_error&) {
      // No more threads to be had: those that run do all of it.
    }
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace pyrometer::base
