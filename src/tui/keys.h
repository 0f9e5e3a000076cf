// From keys and the mouse to what is chosen. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "tui/screen.h"

namespace pyrometer::tui {

enum class Key : std::uint8_t {
  kNone,
  kLetter,  // Event::letter
  kUp,
  kDown,
  kLeft,
  kRight,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kEnter,
  kEscape,
  kTab,
  kBackspace,
  kHelp,    // F1
  kSignal,  // F9
  kClick,
  kWheelUp,
  kWheelDown,
};

struct Event {
  Key key = Key::kNone;
  char32_t letter = 0;
  int y = 0;  // of the mouse
  int x = 0;
};

enum class Action : std::uint8_t {
  kNone,
  kQuit,
  kRepaint,     // everything anew: the terminal was disturbed
  kAim,         // a menu of signals has opened for Ui::target
  kSendSignal,  // to Ui::target, signal_choices()[Ui::signal_choice]
};

// `screen` is the one that was seen when the event came.
[[nodiscard]] Action handle(const Event& event, const Screen& screen, Ui& ui);

}  // namespace pyrometer::tui
