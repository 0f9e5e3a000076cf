// Packs strings into compressed files and archives, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pyrometer::testing {

[[nodiscard]] std::string gzip(const std::string& text);
[[nodiscard]] std::string zstd(const std::string& text);
[[nodiscard]] std::string xz(const std::string& text);

using Members = std::vector<std::pair<std::string, std::string>>;  // name, content
[[nodiscard]] std::string tar(const Members& members);
[[nodiscard]] std::string zip(const Members& members);

// Writes a file, with the folders above it.
void write_file(const std::string& path, const std::string& content);

// A folder of its own, removed with all that is in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace pyrometer::testing
