#include "source_places.h"

#include <algorithm>
#include <cstring>

namespace pyrometer::inject {
namespace {

constexpr std::string_view kHook = "pyrometer_hook";
constexpr std::string_view kHookFolder = "pyrometer_hook/";
constexpr std::size_t kMostMadeUp = 60;  // characters of names such as "<string>"

// The first `most` characters of UTF-8.
std::string_view first_characters(std::string_view text, std::size_t most) {
  std::size_t length = 0;
  for (std::size_t seen = 0; length < text.size(); ++length) {
    const bool starts = (static_cast<unsigned char>(text[length]) & 0xC0U) != 0x80U;
    if (starts && seen++ == most) {
      break;
    }
  }
  return text.substr(0, length);
}

}  // namespace

bool SourcePlaces::set(std::string_view folders) {
  count_ = 0;
  if (folders.size() > sizeof text_) {
    return false;
  }
  std::memcpy(text_, folders.data(), folders.size());
  std::string_view rest(text_, folders.size());
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.size() < 2) {
      continue;
    }
    if (count_ == kMostFolders) {
      return false;
    }
    folders_[count_++] = {line[0], line.substr(1)};
  }
  return true;
}

SourcePlaces::Short SourcePlaces::shorten(std::string_view file) const {
  if (file.find(kHookFolder) != std::string_view::npos) {
    return {kHook, false};
  }
  if (file.starts_with('<')) {
    return {first_characters(file, kMostMadeUp), file.find("ipython") != std::string_view::npos};
  }
  for (const char kind : {'H', 'L', 'S'}) {
    for (std::size_t i = 0; i < count_; ++i) {
      const Folder& folder = folders_[i];
      if (folder.kind != kind || !file.starts_with(folder.path)) {
        continue;
      }
      if (kind == 'H') {
        return {kHook, false};
      }
      return {file.substr(folder.path.size(), kMostName), kind == 'S'};
    }
  }
  const std::size_t slash = file.rfind('/');
  return {file.substr(slash == std::string_view::npos ? 0 : slash + 1, kMostName), true};
}

}  // namespace pyrometer::inject
