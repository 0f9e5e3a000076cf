// One line on the terminal that says how the run is doing.
#pragma once

#include <string>

#include "monitor/process_recorder.h"

namespace pyrometer::monitor {

// "step 1,204 · 45.2 ms/step · 706 samples/s · GPU busy 63% · idle.input 31%"; empty while there is
// nothing to say.
[[nodiscard]] std::string status_text(const LiveState& state);

// Where the command writes to the same terminal, a line of ours would stand in the middle of its
// own: then the status goes into the terminal's title, else it is one line that is written over.
class StatusLine {
 public:
  enum class Place { kNowhere, kLine, kTitle };
  explicit StatusLine(Place place) : place_(place) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(const std::string& text);
  void clear();

 private:
  Place place_;
  bool shown_ = false;
};

}  // namespace pyrometer::monitor
