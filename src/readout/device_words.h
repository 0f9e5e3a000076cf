// What is worth a colour or a word about a GPU.
#pragma once

#include <optional>

#include "output/page.h"
#include "readout/snapshot.h"

namespace pyrometer::readout {

// How far the die is from the temperature at which it slows down.
[[nodiscard]] output::Ink temperature_ink(const Device& device);
// Whether memory is nearly used up.
[[nodiscard]] output::Ink memory_ink(const Device& device);
[[nodiscard]] output::Ink busy_ink(std::optional<double> share);

// What is wrong with it, or holds it back: "lost", "asleep", "power cap, heat"; "–" where that is
// not known.
[[nodiscard]] output::Span condition_of(const Device& device);

}  // namespace pyrometer::readout
