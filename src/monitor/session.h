// The folder in shared memory where recorded processes make their rings.
#pragma once

#include <string>

#include "base/result.h"

namespace pyrometer::monitor {

// Made with mode 0700, removed with all that is in it at the end. Folders that dead monitors of the
// same user left behind are removed, too, once no process writes there any more.
class Session {
 public:
  // In /dev/shm, else in the folder for temporary files.
  [[nodiscard]] static base::Result<Session> create();
  ~Session();
  Session(Session&& other) noexcept;
  Session& operator=(Session&& other) noexcept;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  explicit Session(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;  // empty once moved from
};

// Whether the session that a folder's name belongs to is being recorded at present.
[[nodiscard]] bool session_is_live(const std::string& folder);

}  // namespace pyrometer::monitor
