// A folder for what is not to stay.
#pragma once

#include <string>

#include "base/result.h"

namespace pyrometer::cli {

// Made below `parent`, or below the folder for temporary files where that is empty; removed with
// all that is in it, unless kept.
class ScratchFolder {
 public:
  [[nodiscard]] static base::Result<ScratchFolder> make(const std::string& parent = {});
  ~ScratchFolder();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  void keep() { kept_ = true; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty once moved from
  bool kept_ = false;
};

}  // namespace pyrometer::cli
