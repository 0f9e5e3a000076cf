// The view model: from what is known and what was chosen to a grid of cells. Pure.
#pragma once

#include <string>
#include <vector>

#include "tui/grid.h"
#include "tui/process_list.h"
#include "tui/state.h"

namespace pyrometer::tui {

// What a click there means.
struct Hit {
  enum class Kind : std::uint8_t { kDevice, kProcess, kColumn };
  Kind kind = Kind::kDevice;
  int y = 0;
  int x = 0;
  int width = 0;
  std::string device{};            // UUID, with kDevice
  ProcessId process{};             // with kProcess
  SortKey column = SortKey::kGpu;  // with kColumn
};

// Refers to the sight that it was composed from.
struct Screen {
  Grid grid;
  std::vector<Hit> hits;
  std::vector<std::string> devices;   // UUIDs, in order
  std::vector<ProcessRow> processes;  // after filter and sort
  int device_page = 1;                // rows that a page holds
  int process_page = 1;
  int text_page = 1;
  int text_rows = 0;  // of the text that can be scrolled
  int text_at = -1;   // the first row of the grid that holds it; -1: there is none
};

// Moves selection and scroll positions of `ui` to where there is something.
[[nodiscard]] Screen compose(const Sight& sight, Ui& ui, const History& history, const Looks& looks,
                             int width, int height);

// The device that is selected, null where there is none.
[[nodiscard]] const readout::Device* selected_device(const Sight& sight, const Ui& ui);

// "2.1 s", "45 s", "12 min": of things that are old.
[[nodiscard]] std::string age_text(std::int64_t ns);

}  // namespace pyrometer::tui
