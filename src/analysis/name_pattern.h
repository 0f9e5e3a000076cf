// Patterns on names: substrings with a few wildcards, fast enough to try hundreds on every name.
#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pyrometer::analysis {

// True when `pattern` occurs in `text`: ^ at its start and $ at its end anchor it, * stands for any
// run of characters (none included), # for one digit. Case-sensitive.
[[nodiscard]] bool pattern_occurs(std::string_view pattern, std::string_view text);

// Which runs of three characters a text holds, as a filter: a pattern whose own runs are not all
// there cannot occur in the text.
class TrigramSet {
 public:
  explicit TrigramSet(std::string_view text);
  [[nodiscard]] bool holds(std::uint16_t trigram) const { return bits_[trigram]; }

  static constexpr std::size_t kBits = 4096;
  [[nodiscard]] static std::uint16_t hash(const char* three);

 private:
  std::bitset<kBits> bits_;
};

// A pattern prepared for many texts.
class NamePattern {
 public:
  explicit NamePattern(std::string_view pattern);
  // `trigrams` must be those of `text` or of a text that contains it.
  [[nodiscard]] bool occurs(std::string_view text, const TrigramSet& trigrams) const {
    for (const std::uint16_t trigram : trigrams_) {
      if (!trigrams.holds(trigram)) return false;
    }
    return pattern_occurs(pattern_, text);
  }

 private:
  std::string_view pattern_;
  std::vector<std::uint16_t> trigrams_;
};

}  // namespace pyrometer::analysis
