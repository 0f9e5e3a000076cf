// A grid on a real terminal, and the keys that are pressed there. One at a time in a process.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "tui/grid.h"
#include "tui/keys.h"

namespace pyrometer::tui {

struct TerminalOptions {
  bool color = true;
  bool unicode = true;          // asked for; see Terminal::looks()
  std::string terminfo_folder;  // of the installation; may be empty
};

class Terminal {
 public:
  // Errors: kUnsupported, where stdin or stdout is no terminal or one that no cursor moves on.
  [[nodiscard]] static base::Result<std::unique_ptr<Terminal>> open(const TerminalOptions& options);
  // Leaves the terminal as it was.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] int width() const;
  [[nodiscard]] int height() const;
  [[nodiscard]] Looks looks() const { return looks_; }

  // Writes the cells that have changed.
  void draw(const Grid& grid);
  // Takes over the window's new size; what was drawn is forgotten.
  void resize();
  void repaint();
  // Gives the terminal back until resume(): the process is about to stop.
  void suspend();
  void resume();

  // The next key. Key::kNone where none is waiting, and for one that means nothing here.
  [[nodiscard]] Event next_event();

 private:
  struct Curses;
  explicit Terminal(std::unique_ptr<Curses> curses, Looks looks);
  std::unique_ptr<Curses> curses_;
  Looks looks_;
};

}  // namespace pyrometer::tui
