// Which recordings are being written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pyrometer::server {

struct FoundRecording {
  std::string path;             // that can be opened from here
  std::int64_t changed_ms = 0;  // Unix time of the last write
  std::int64_t bytes = 0;       // with what waits in the log beside it
  bool is_open = false;         // a pyrometer that runs has it open
};

// The recordings (.pyro) of these folders, and of the folders in them. Not more than `most`, those
// that changed last.
[[nodiscard]] std::vector<FoundRecording> find_in_folders(const std::vector<std::string>& folders,
                                                          std::size_t most);

// This one; none where it is no file.
[[nodiscard]] std::vector<FoundRecording> find_file(const std::string& path);

// Those that programs called pyrometer have open, as far as their open files can be seen: one's
// own, or everybody's for root. `root` is put before /proc.
[[nodiscard]] std::vector<FoundRecording> find_open(const std::string& root, std::size_t most);

// Those that this process has open.
[[nodiscard]] std::vector<FoundRecording> find_open_of(const std::string& root, int pid);

}  // namespace pyrometer::server
