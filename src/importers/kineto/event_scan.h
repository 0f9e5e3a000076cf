// Byte-by-byte reading of events in damaged text, where simdjson's index cannot be had or trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pyrometer::importers::kineto {

// One object of JSON, checked as far as needed to know where it ends.
struct ObjectScan {
  enum class Outcome : std::uint8_t {
    kSound,
    kEndsEarly,  // the text ends inside the object
    kBroken,
  };
  Outcome outcome = Outcome::kBroken;
  std::size_t stopped_at = 0;  // kSound: behind the `}`
  bool control_characters = false;
};

// Scans the object that begins at text[at], which is '{', and writes the offsets of its tokens as
// StructuralIndex would find them. Gives up at the first thing that cannot be JSON, so that a quote
// too many is noticed within a few tokens. Values may be any bare word: inf and NaN are let
// through.
[[nodiscard]] ObjectScan scan_object(std::string_view text, std::size_t at,
                                     std::vector<std::uint32_t>& tokens);

// Whether the `{` at text[at] is followed by a key that events have.
[[nodiscard]] bool begins_event(std::string_view text, std::size_t at);

// Whether `text`, which is passed over, was an event: it has two keys that only events have.
[[nodiscard]] bool holds_event(std::string_view text);

// A place where reading can start again.
struct Landmark {
  enum class Kind : std::uint8_t {
    kNone,
    kEvent,    // the `{` of an event
    kListEnd,  // the `]` behind the last event
  };
  Kind kind = Kind::kNone;
  std::size_t at = 0;
};

// The first landmark in text[from, …): a `{` whose first key is one that events have and that is
// not the value of another key, or a `]` that closes the list of events. `at_end`: no more text
// will follow. Linear in the distance.
[[nodiscard]] Landmark find_landmark(std::string_view text, std::size_t from, bool at_end);

// How many bytes before the end of a text find_landmark() may need to see again with more text.
inline constexpr std::size_t kLandmarkOverlap = 256;

// A sound JSON text of the event in `broken`, which begins with its `{` and ends before the next
// event: keys that matter are looked for, strings end at the quote that makes sense of what
// follows, and what cannot be read is left out. Nothing if it has no kind, name or time.
[[nodiscard]] std::optional<std::string> mend_event(std::string_view broken);

}  // namespace pyrometer::importers::kineto
