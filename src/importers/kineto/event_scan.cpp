#include "importers/kineto/event_scan.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "importers/kineto/tokens.h"

namespace pyrometer::importers::kineto {
namespace {

constexpr std::size_t kMaxString = 1 << 20;  // no sound name or argument is longer
constexpr std::size_t kMaxDepth = 64;

// Keys that begin an event in the writers we know: Kineto, its older versions, json.dump of a dict.
constexpr std::array<std::string_view, 11> kFirstKeys = {"ph",  "cat", "name", "pid", "tid", "ts",
                                                         "dur", "id",  "args", "bp",  "s"};

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

// The key whose opening quote is text[at], if a colon follows it.
std::optional<std::string_view> key_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongestKey = 64;
  if (at >= text.size() || text[at] != '"') return std::nullopt;
  const std::size_t end = text.substr(0, at + 1 + kLongestKey).find('"', at + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t colon = skip_space(text, end + 1);
  if (colon >= text.size() || text[colon] != ':') return std::nullopt;
  return text.substr(at + 1, end - at - 1);
}

bool is_first_key(std::string_view key) {
  for (const std::string_view k : kFirstKeys) {
    if (k == key) return true;
  }
  return false;
}

// Bytes of a bare word: numbers, true, false, null, inf, NaN, -Infinity.
bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '+' || c == '.' || c == '_';
}

}  // namespace

bool begins_event(std::string_view text, std::size_t at) {
  const auto key = key_at(text, skip_space(text, at + 1));
  return key && is_first_key(*key);
}

namespace {

class ObjectScanner {
 public:
  ObjectScanner(std::string_view text, std::size_t at, std::vector<std::uint32_t>& tokens)
      : text_(text), at_(at), tokens_(tokens) {}

  ObjectScan run() {
    while (true) {
      at_ = skip_space(text_, at_);
      if (at_ >= text_.size()) return stop(ObjectScan::Outcome::kEndsEarly);
      const char c = text_[at_];
      const std::size_t begin = at_;
      tokens_.push_back(static_cast<std::uint32_t>(begin));
      if (c == '"') {
        const auto outcome = string();
        if (outcome != ObjectScan::Outcome::kSound) return stop(outcome);
        if (after_value_) return stop_at(begin);
        after_value_ = true;
      } else if (c == '{' || c == '[') {
        if (after_value_ || open_.size() >= kMaxDepth) return stop_at(begin);
        open_.push_back(c);
        ++at_;
      } else if (c == '}' || c == ']') {
        if (open_.empty() || (open_.back() == '{') != (c == '}')) return stop_at(begin);
        open_.pop_back();
        ++at_;
        after_value_ = true;
        if (open_.empty()) return stop(ObjectScan::Outcome::kSound);
      } else if (c == ',') {
        after_value_ = false;
        ++at_;
      } else if (c == ':') {
        if (!after_value_) return stop_at(begin);
        after_value_ = false;
        ++at_;
      } else if (is_word(c)) {
        if (after_value_) return stop_at(begin);
        while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        after_value_ = true;
      } else {
        return stop_at(begin);
      }
    }
  }

 private:
  ObjectScan::Outcome string() {
    const std::size_t limit = std::min(text_.size(), at_ + kMaxString);
    for (++at_; at_ < limit; ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return ObjectScan::Outcome::kSound;
      }
      if (c == '\\') {
        ++at_;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        control_ = true;
        // A line that starts with a key or an event means that the quote got lost before.
        if (c == '\n' && line_is_json(at_ + 1)) return ObjectScan::Outcome::kBroken;
      }
    }
    return at_ >= text_.size() ? ObjectScan::Outcome::kEndsEarly : ObjectScan::Outcome::kBroken;
  }

  [[nodiscard]] bool line_is_json(std::size_t at) const {
    at = skip_space(text_, at);
    if (at < text_.size() && text_[at] == '{') return begins_event(text_, at);
    return key_at(text_, at).has_value();
  }

  [[nodiscard]] ObjectScan stop(ObjectScan::Outcome outcome) const {
    return {outcome, at_, control_};
  }
  [[nodiscard]] ObjectScan stop_at(std::size_t at) const {
    return {ObjectScan::Outcome::kBroken, at, control_};
  }

  std::string_view text_;
  std::size_t at_;
  std::vector<std::uint32_t>& tokens_;
  std::vector<char> open_;
  bool after_value_ = false;
  bool control_ = false;
};

// Whether the `]` at `at` closes the list of events: it follows a `}` and what comes after it is
// the next top-level key, the end of the document, or the end of the text.
bool closes_list(std::string_view text, std::size_t at, bool at_end) {
  std::size_t before = at;
  while (before > 0 && is_space(text[before - 1])) --before;
  if (before == 0 || text[before - 1] != '}') return false;
  std::size_t after = skip_space(text, at + 1);
  if (after >= text.size()) return at_end;
  if (text[after] == '}') return true;
  if (text[after] != ',') return false;
  after = skip_space(text, after + 1);
  return key_at(text, after).has_value();
}

bool is_value_of_key(std::string_view text, std::size_t at, std::size_t from) {
  while (at > from && is_space(text[at - 1])) --at;
  return at > from && text[at - 1] == ':';
}

std::size_t find_byte(std::string_view text, char c, std::size_t from) {
  if (from >= text.size()) return text.size();
  const void* found = std::memchr(text.data() + from, c, text.size() - from);
  return found == nullptr ? text.size()
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace

ObjectScan scan_object(std::string_view text, std::size_t at, std::vector<std::uint32_t>& tokens) {
  return ObjectScanner(text, at, tokens).run();
}

bool holds_event(std::string_view text) {
  constexpr std::array<std::string_view, 7> kKeys = {"ph",  "cat", "name", "pid",
                                                     "tid", "ts",  "dur"};
  std::array<bool, kKeys.size()> seen{};
  int count = 0;
  for (std::size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at + 1)) {
    const auto key = key_at(text, at);
    if (!key) continue;
    const auto known = std::find(kKeys.begin(), kKeys.end(), *key);
    if (known == kKeys.end()) continue;
    bool& is_seen = seen[static_cast<std::size_t>(known - kKeys.begin())];
    if (!is_seen && ++count == 2) return true;
    is_seen = true;
  }
  return false;
}

Landmark find_landmark(std::string_view text, std::size_t from, bool at_end) {
  // Brackets are looked for only up to the next brace, so that the cost is the distance travelled.
  std::size_t bracket_from = from;
  for (std::size_t brace = from;; ++brace) {
    brace = find_byte(text, '{', brace);
    const std::string_view before = text.substr(0, brace);
    for (std::size_t bracket = find_byte(before, ']', bracket_from); bracket < brace;
         bracket = find_byte(before, ']', bracket + 1)) {
      if (closes_list(text, bracket, at_end)) return {Landmark::Kind::kListEnd, bracket};
    }
    if (brace == text.size()) return {};
    bracket_from = brace;
    if (begins_event(text, brace) && !is_value_of_key(text, brace, from)) {
      return {Landmark::Kind::kEvent, brace};
    }
  }
}

}  // namespace pyrometer::importers::kineto
