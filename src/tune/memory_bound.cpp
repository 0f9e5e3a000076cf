#include "tune/memory_bound.h"

#include <algorithm>
#include <array>
#include <string>

namespace pyrometer::tune {
namespace {

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    const bool capital = c >= 'A' && c <= 'Z';
    const bool separates = c == '_' || c == '.' || c == '-' || c == ':';
    if (separates || capital) parts.emplace_back();
    if (!separates) parts.back() += capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return parts;
}

bool has(const std::vector<std::string>& parts, std::string_view word) {
  return std::find(parts.begin(), parts.end(), word) != parts.end();
}

}  // namespace

const Point* MemoryBound::excludes(const Point& point) const {
  for (const Point& bound : bounds_) {
    bool reaches = true;
    for (std::size_t d = 0; d < point.size() && reaches; ++d) {
      reaches = grows_[d] ? point[d] >= bound[d] : point[d] == bound[d];
    }
    if (reaches) return &bound;
  }
  return nullptr;
}

bool seems_to_grow_memory(const Dimension& dimension) {
  if (!dimension.ordered()) return false;
  const std::vector<std::string> parts = parts_of(dimension.name);
  // The number of batches kept ready, or added up: not the size of one.
  constexpr std::array<std::string_view, 6> kOther = {"accum",       "accumulate", "accumulation",
                                                      "accumulated", "bucket",     "prefetch"};
  for (const std::string_view word : kOther) {
    if (has(parts, word)) return false;
  }
  constexpr std::array<std::string_view, 9> kAlone = {
      "batch", "bs", "batchsize", "seq", "seqlen", "tokens", "resolution", "microbatch", "mbs"};
  for (const std::string_view word : kAlone) {
    if (has(parts, word)) return true;
  }
  constexpr std::array<std::string_view, 4> kSized = {"image", "hidden", "context", "crop"};
  const bool is_size = has(parts, "size") || has(parts, "length") || has(parts, "len");
  return is_size && std::any_of(kSized.begin(), kSized.end(),
                                [&](std::string_view word) { return has(parts, word); });
}

}  // namespace pyrometer::tune
