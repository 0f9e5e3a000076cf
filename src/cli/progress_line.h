// A progress line on stderr, for people who wait.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>

#include "importers/importer.h"

namespace pyrometer::cli {

// Shows "reading 312 of 527 MB" from a thread of its own, from one second after construction until
// destruction, which takes the line off the screen again. Shows nothing, and starts no thread,
// when not `enabled`: a pipe or a log gets no progress.
class ProgressLine {
 public:
  ProgressLine(const importers::Progress& progress, bool enabled);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Input is read; from now on the line says what is being done instead. `phase` outlives this.
  void set_phase(std::string_view phase);

 private:
  void run();

  const importers::Progress& progress_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string_view phase_;  // guarded by mutex_
  bool stop_ = false;       // guarded by mutex_
  std::thread thread_;
};

}  // namespace pyrometer::cli
