#include "analysis/name_pattern.h"

namespace pyrometer::analysis {
namespace {

constexpr auto kNotFound = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// `piece` has no '*'.
bool matches_at(std::string_view piece, std::string_view text, std::size_t at) {
  if (at + piece.size() > text.size()) return false;
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const char c = text[at + i];
    if (piece[i] == '#' ? !is_digit(c) : piece[i] != c) return false;
  }
  return true;
}

// First position at or after `from` where `piece` stands.
std::size_t find_piece(std::string_view piece, std::string_view text, std::size_t from) {
  if (piece.find('#') == kNotFound) return text.find(piece, from);
  for (std::size_t at = from; at + piece.size() <= text.size(); ++at) {
    if (matches_at(piece, text, at)) return at;
  }
  return kNotFound;
}

}  // namespace

bool pattern_occurs(std::string_view pattern, std::string_view text) {
  const bool from_start = pattern.starts_with('^');
  if (from_start) pattern.remove_prefix(1);
  const bool to_end = pattern.ends_with('$');
  if (to_end) pattern.remove_suffix(1);
  std::size_t at = 0;
  for (bool first = true;; first = false) {
    const std::size_t star = pattern.find('*');
    const bool last = star == kNotFound;
    const std::string_view piece = pattern.substr(0, star);
    if (last && to_end) {
      // The leftmost match of the pieces before leaves most room for the last one.
      if (text.size() < at + piece.size()) return false;
      const std::size_t tail = text.size() - piece.size();
      if (first && from_start && tail != 0) return false;
      return matches_at(piece, text, tail);
    }
    if (first && from_start) {
      if (!matches_at(piece, text, 0)) return false;
      at = piece.size();
    } else {
      const std::size_t found = find_piece(piece, text, at);
      if (found == kNotFound) return false;
      at = found + piece.size();
    }
    if (last) return true;
    pattern.remove_prefix(star + 1);
  }
}

std::uint16_t TrigramSet::hash(const char* three) {
  const auto byte = [three](int i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(three[i]));
  };
  const std::uint32_t value = byte(0) | byte(1) << 8 | byte(2) << 16;
  return static_cast<std::uint16_t>((value * 2654435761U) >> 20);  // the top 12 bits
}

TrigramSet::TrigramSet(std::string_view text) {
  for (std::size_t i = 0; i + 3 <= text.size(); ++i) bits_.set(hash(text.data() + i));
}

NamePattern::NamePattern(std::string_view pattern) : pattern_(pattern) {
  constexpr std::string_view kSpecial = "^$*#";
  for (std::size_t i = 0; i + 3 <= pattern.size(); ++i) {
    if (pattern.substr(i, 3).find_first_of(kSpecial) != kNotFound) continue;
    trigrams_.push_back(TrigramSet::hash(pattern.data() + i));
  }
}

}  // namespace pyrometer::analysis
