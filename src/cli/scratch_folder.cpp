#include "cli/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/message.h"

namespace pyrometer::cli {

base::Result<ScratchFolder> ScratchFolder::make(const std::string& parent) {
  std::error_code error;
  const std::filesystem::path base = std::filesystem::absolute(
      parent.empty() ? std::filesystem::temp_directory_path(error) : std::filesystem::path(parent),
      error);
  std::string path = (base / "pyrometer-XXXXXX").string();
  if (error || ::mkdtemp(path.data()) == nullptr) {
    return base::fail({.kind = base::ErrorKind::kIo,
                       .message = "cannot make a folder for trials: " + system_error_text(errno),
                       .file = base.string()});
  }
  return ScratchFolder(std::move(path));
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), kept_(other.kept_) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty() && !kept_) std::filesystem::remove_all(path_, ignored);
}

}  // namespace pyrometer::cli
