// Moves what was committed from an SQLite log into its file, on a thread of its own.
#pragma once

#include <string>

#include "base/background.h"

namespace pyrometer::recording {

// A checkpoint waits for the disk, seconds where that is slow or far away, and the recorder has no
// such time: while it waits the rings of the processes fill up. A second connection checkpoints
// without hindering the first.
class Checkpointer {
 public:
  explicit Checkpointer(std::string path) : path_(std::move(path)) {}
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // Without a thread (the system has none left) the log grows until the end.
  void start();
  void stop();

 private:
  void checkpoint();

  std::string path_;
  bool started_ = false;
  base::Background background_;  // last: it must end before the rest goes
};

}  // namespace pyrometer::recording
