// The screen while it lives: shows, listens, shows again.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "readout/host_watch.h"
#include "readout/live.h"
#include "readout/training.h"
#include "tui/terminal.h"

namespace pyrometer::tui {

struct LoopOptions {
  std::chrono::nanoseconds interval = std::chrono::seconds(1);  // of the snapshots
  // Why no signal can be sent from here; empty: it can.
  std::string no_signals;
};

// What the screen is drawn from. Nothing of it ever waits for a driver or a file.
struct Feeds {
  const readout::Live& live;
  const readout::HostWatch& host;
  std::function<std::shared_ptr<const readout::Trainings>()> trainings;
};

// Until somebody quits or the terminal is gone.
void run_screen(Terminal& terminal, const Feeds& feeds, const LoopOptions& options);

}  // namespace pyrometer::tui
