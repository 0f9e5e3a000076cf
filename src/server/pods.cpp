#include "server/pods.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "sources/source.h"

namespace pyrometer::server {
namespace {

constexpr std::size_t kIdLength = 64;
constexpr std::int64_t kLookAgainAfter = 10'000'000'000;
constexpr std::size_t kMostPods = 4096;

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

bool parse_container_log(std::string_view file, std::string& id, Pod& pod) {
  constexpr std::string_view kEnding = ".log";
  if (!file.ends_with(kEnding)) return false;
  file.remove_suffix(kEnding.size());
  if (file.size() < kIdLength + 1) return false;
  const std::string_view digits = file.substr(file.size() - kIdLength);
  if (!std::ranges::all_of(digits, is_hex)) return false;
  file.remove_suffix(kIdLength);
  if (!file.ends_with('-')) return false;
  file.remove_suffix(1);
  // None of the three names may have an underscore in it.
  const std::size_t first = file.find('_');
  const std::size_t second = first == std::string_view::npos ? first : file.find('_', first + 1);
  if (second == std::string_view::npos) return false;
  id = digits;
  pod.name = file.substr(0, first);
  pod.name_space = file.substr(first + 1, second - first - 1);
  pod.container = file.substr(second + 1);
  return !pod.name.empty() && !pod.name_space.empty() && !pod.container.empty();
}

const Pod* Pods::find(std::string_view container_id) {
  if (container_id.empty()) return nullptr;
  auto found = pods_.find(container_id);
  if (found == pods_.end()) {
    const std::int64_t now = sources::monotonic_ns();
    if (read_ns_ != 0 && now - read_ns_ < kLookAgainAfter) return nullptr;
    read_ns_ = now;
    read();
    found = pods_.find(container_id);
  }
  return found == pods_.end() ? nullptr : &found->second;
}

void Pods::read() {
  pods_.clear();
  std::error_code none;
  std::filesystem::directory_iterator at(root_ + "/var/log/containers", none);
  for (; !none && at != std::filesystem::directory_iterator() && pods_.size() < kMostPods;
       at.increment(none)) {
    std::string id;
    Pod pod;
    if (parse_container_log(at->path().filename().native(), id, pod)) {
      pods_.insert_or_assign(std::move(id), std::move(pod));
    }
  }
}

}  // namespace pyrometer::server
