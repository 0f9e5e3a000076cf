// What can be changed of a training without an edit of its code, from catalog/overrides.json.
//
// The Python hook applies an override in the training process (docs/concepts/overrides.md); here is
// what it is called, which values it takes, and the same change as code.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pyrometer::model {

enum class OverrideKind : std::uint8_t {
  kChoice,    // one of `words`
  kWhole,     // a whole number from `least` to `most`, or one of `words`
  kSettings,  // "key:value,key:value" of the allocator, with `words` as the keys
};

struct OverrideInfo {
  std::string_view id;     // "loader.workers"
  std::string_view title;  // "worker processes of the loaders"
  OverrideKind kind;
  std::string_view default_value;  // empty: a value has to be given
  std::span<const std::string_view> words;
  std::int64_t least;
  std::int64_t most;
  std::string_view help;
  bool changes_numerics;  // losses differ, if only by rounding
  bool switchable;        // can be put on and off within one process, between two steps
  std::span<const std::string_view> findings;  // ids of the findings that it answers
  std::string_view edit;                       // see edit_for
  std::string_view auto_code;                  // what stands in it for the value "auto"
  std::string_view caveats;
};

// An override with its value, both known to the table.
struct Override {
  std::string id;
  std::string value;
  bool operator==(const Override&) const = default;
};

// "loader.workers=8 + gc=freeze".
[[nodiscard]] std::string text_of(std::span<const Override> overrides);

// In the order of the catalog.
[[nodiscard]] std::span<const OverrideInfo> override_table();
// Null: there is none of this id.
[[nodiscard]] const OverrideInfo* find_override(std::string_view id);

// Whether it is a fix of what the finding says.
[[nodiscard]] bool answers(const OverrideInfo& info, std::string_view finding);
// Those that answer a finding and have a default, in the order of the catalog.
[[nodiscard]] std::vector<const OverrideInfo*> overrides_for(std::string_view finding);

// "a whole number from 0 to 128, or auto": what `info` takes, as a noun phrase.
[[nodiscard]] std::string values_of(const OverrideInfo& info);
// What is wrong with it, as a clause that follows "a value"; "" where it takes it.
[[nodiscard]] std::string wrong_value(const OverrideInfo& info, std::string_view value);
[[nodiscard]] bool takes_value(const OverrideInfo& info, std::string_view value);

// The change as lines of the user's own code (or shell, where it is an environment variable), with
// the value put in.
[[nodiscard]] std::string edit_for(const OverrideInfo& info, std::string_view value);

}  // namespace pyrometer::model
