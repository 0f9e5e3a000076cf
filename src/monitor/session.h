// The folder in shared memory where recorded processes make their rings.
#pragma once

#include <string>

#include "base/result.h"

namespace pyrometer::monitor {

// Made with mode 0700, removed with all that is in it at the end, and locked meanwhile: a monitor
// in another container may share the folder's parent and not see our pid. Folders that dead
// monitors of the same user left behind are removed when one is made.
class Session {
 public:
  // In /dev/shm; where that is missing or has no room for two rings, in the folder for temporary
  // files.
  [[nodiscard]] static base::Result<Session> create();
  ~Session();
  Session(Session&& other) noexcept;
  Session& operator=(Session&& other) noexcept;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  Session(std::string folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
  std::string folder_;  // empty once moved from
  int lock_ = -1;       // open folder, locked; -1: the file system knows no locks
};

// Whether the session that a folder's name belongs to is being recorded at present.
[[nodiscard]] bool session_is_live(const std::string& folder);

}  // namespace pyrometer::monitor
