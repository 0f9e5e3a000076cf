#include "source_places.h"

#include <algorithm>
#include <cstring>

namespace pyrometer::inject {
namespace {

constexpr std::string_view kHook = "pyrometer_hook";
constexpr std::string_view kHookFolder = "pyrometer_hook/";
constexpr std::size_t kMostMadeUp = 60;  // characters of names such as "<string>"

// string_view's own substr can throw, which this library must not need.
std::string_view part(std::string_view text, std::size_t from, std::size_t most) {
  const std::size_t start = std::min(from, text.size());
  return {text.data() + start, std::min(most, text.size() - start)};
}

// The first `most` characters of UTF-8.
std::string_view first_characters(std::string_view text, std::size_t most) {
  std::size_t length = 0;
  for (std::size_t seen = 0; length < text.size(); ++length) {
    const bool starts = (static_cast<unsigned char>(text[length]) & 0xC0U) != 0x80U;
    if (starts && seen++ == most) {
      break;
    }
  }
  return part(text, 0, length);
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
    const std::string_view line = part(rest, 0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.size() < 2) {
      continue;
    }
    if (count_ == kMostFolders) {
      return false;
    }
    folders_[count_++] = {line[0], part(line, 1, line.size())};
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
      return {part(file, folder.path.size(), kMostName), kind == 'S'};
    }
  }
  const std::size_t slash = file.rfind('/');
  return {part(file, slash == std::string_view::npos ? 0 : slash + 1, kMostName), true};
}

}  // namespace pyrometer::inject
