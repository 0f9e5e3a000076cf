#include "server/recording_finder.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "sources/procfs/proc_reader.h"

namespace pyrometer::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".pyro";
constexpr int kMostFiles = 100'000;  // looked at in a folder

std::int64_t changed_ms(const struct stat& status) {
  constexpr std::int64_t kThousand = 1000;
  constexpr std::int64_t kMillion = 1'000'000;
  return status.st_mtim.tv_sec * kThousand + status.st_mtim.tv_nsec / kMillion;
}

std::optional<FoundRecording> look_at(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  FoundRecording found{.path = path, .changed_ms = changed_ms(status), .bytes = status.st_size};
  // What is committed goes into a log beside the file first.
  struct stat log {};
  if (::stat((path + "-wal").c_str(), &log) == 0) {
    found.changed_ms = std::max(found.changed_ms, changed_ms(log));
    found.bytes += log.st_size;
  }
  return found;
}

void keep_the_last(std::vector<FoundRecording>& found, std::size_t most) {
  std::ranges::sort(found, [](const FoundRecording& a, const FoundRecording& b) {
    return a.changed_ms != b.changed_ms ? a.changed_ms > b.changed_ms : a.path < b.path;
  });
  if (found.size() > most) found.resize(most);
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat one {};
  struct stat other {};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// The name under which an open file can be opened here: it may be of another mount namespace.
std::string path_here(const std::string& process, const std::string& open_file,
                      const std::string& target) {
  std::string through_its_root = process;
  through_its_root.append("/root").append(target);
  for (const std::string& path : {target, through_its_root}) {
    if (is_same_file(path, open_file)) return path;
  }
  return {};
}

void add_open_files(const std::string& process, std::vector<FoundRecording>& found) {
  std::error_code none;
  fs::directory_iterator at(process + "/fd", none);
  for (; !none && at != fs::directory_iterator(); at.increment(none)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(at->path(), gone).native();
    if (gone || !target.ends_with(kEnding)) continue;
    const std::string path = path_here(process, at->path().native(), target);
    const bool is_known =
        std::ranges::any_of(found, [&](const FoundRecording& one) { return one.path == path; });
    if (path.empty() || is_known) continue;
    if (auto one = look_at(path)) {
      one->is_open = true;
      found.push_back(std::move(*one));
    }
  }
}

}  // namespace

std::vector<FoundRecording> find_in_folders(const std::vector<std::string>& folders,
                                            std::size_t most) {
  std::vector<FoundRecording> found;
  int looked_at = 0;
  for (const std::string& folder : folders) {
    std::error_code none;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                        none);
    for (; !none && at != fs::recursive_directory_iterator() && looked_at < kMostFiles;
         at.increment(none), ++looked_at) {
      if (at.depth() >= 1) at.disable_recursion_pending();
      if (at->path().extension() != kEnding) continue;
      if (auto one = look_at(at->path().native())) found.push_back(std::move(*one));
    }
  }
  keep_the_last(found, most);
  return found;
}

std::vector<FoundRecording> find_file(const std::string& path) {
  std::vector<FoundRecording> found;
  if (auto one = look_at(path)) found.push_back(std::move(*one));
  return found;
}

std::vector<FoundRecording> find_open(const std::string& root, std::size_t most) {
  std::vector<FoundRecording> found;
  sources::ProcReader files(root);
  std::error_code none;
  fs::directory_iterator at(root + "/proc", none);
  for (; !none && at != fs::directory_iterator(); at.increment(none)) {
    const std::string pid = at->path().filename();
    if (!sources::to_number(pid)) continue;
    const auto name = files.read("/proc/" + pid + "/comm");
    if (!name || sources::trim(*name) != "pyrometer") continue;
    std::string process = root;
    process.append("/proc/").append(pid);
    add_open_files(process, found);
  }
  keep_the_last(found, most);
  return found;
}

std::vector<FoundRecording> find_open_of(const std::string& root, int pid) {
  std::vector<FoundRecording> found;
  add_open_files(root + "/proc/" + std::to_string(pid), found);
  return found;
}

}  // namespace pyrometer::server
