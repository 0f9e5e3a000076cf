// The terminal as it was before, whatever ends the process.
#pragma once

#include <termios.h>

#include <string_view>

namespace pyrometer::tui {

// From now on, signals that end the process put the terminal in order first: `reset` is written and
// `before` is set. SIGINT, SIGTERM and SIGHUP end with status 0, at once, even while everything
// else hangs; those of a crash then do what they did. `reset` is kept (up to 1 KiB).
void arm_rescue(std::string_view reset, const termios& before);
// The terminal is in order.
void disarm_rescue();

// A file descriptor that becomes readable when the window has changed its size, or when the
// terminal asks the program to stop (Ctrl-Z). -1 where it could not be made.
[[nodiscard]] int open_signal_pipe();

struct Told {
  bool resized = false;
  bool stop = false;
};
// What has come in since.
[[nodiscard]] Told take_signals();
// Stops the process as Ctrl-Z would; returns when it is to go on.
void stop_here();

}  // namespace pyrometer::tui
