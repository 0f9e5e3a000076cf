// A folder for what is not to stay.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace pyrometer::cli {

// Made below `parent`, or below the folder for temporary files where that is empty; removed with
// all that is in it, unless kept. A process of its own waits for our end, so that it is removed
// also where we are killed (SIGKILL).
class ScratchFolder {
 public:
  [[nodiscard]] static base::Result<ScratchFolder> make(const std::string& parent = {});
  ~ScratchFolder();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  void keep();

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  void start_heir();
  void dismiss_heir();

  std::string path_;  // empty once moved from
  bool kept_ = false;
  int line_ = -1;  // to the heir, who sees it cut when we are gone; -1: there is none
  pid_t heir_ = 0;
};

}  // namespace pyrometer::cli
