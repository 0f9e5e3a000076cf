// What the screen shows and what the person at it has chosen. Passive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "readout/host_watch.h"
#include "readout/live.h"
#include "readout/training.h"
#include "tui/graph.h"
#include "tui/history.h"

namespace pyrometer::tui {

// Everything that is known at one moment.
struct Sight {
  readout::LiveView live;
  std::shared_ptr<const readout::HostProcesses> host;   // never null
  std::shared_ptr<const readout::Trainings> trainings;  // never null
  std::int64_t now_ns = 0;                              // CLOCK_MONOTONIC
  std::int64_t interval_ns = 1'000'000'000;             // between two snapshots
  bool same_namespace = true;                           // whether process ids mean something here
};

enum class View : std::uint8_t { kOverview, kDevice, kProcesses, kHelp };
enum class Focus : std::uint8_t { kDevices, kProcesses };
enum class Overlay : std::uint8_t { kNone, kWhy, kSignal, kConfirm };
enum class SortKey : std::uint8_t {
  kGpu,
  kPid,
  kUser,
  kMemory,
  kSm,
  kCpu,
  kHostMemory,
  kTime,
  kProgram,
};
inline constexpr std::size_t kSortKeys = 9;

// A process on a GPU, for as long as it is there.
struct ProcessId {
  std::string device;  // UUID; empty: not on a GPU
  std::int32_t pid = -1;
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

struct Ui {
  View view = View::kOverview;
  View before_help = View::kOverview;
  Focus focus = Focus::kDevices;
  Overlay overlay = Overlay::kNone;

  std::string device;  // UUID of the selected one; empty: the first
  ProcessId process;   // the selected one; pid -1: the first
  int device_top = 0;  // first that is shown
  int process_top = 0;
  int text_top = 0;  // of the detail, the help and the reasons

  SortKey sort = SortKey::kGpu;
  bool descending = false;
  bool tree = false;
  std::string filter;
  bool is_filtering = false;  // keys go into the filter
  int first_curve = 0;        // of the graphs
  bool is_paused = false;

  // Of the process that a signal is to go to.
  ProcessId target;
  std::string target_name;
  int signal_choice = 0;

  std::string message;  // the last word of the screen itself
  Ink message_ink = Ink::kPlain;
};

// What a terminal can show.
struct Looks {
  bool unicode = true;
  GraphStyle graph = GraphStyle::kBraille;
};

struct SignalChoice {
  int number;
  std::string_view name;
  std::string_view what;
};
[[nodiscard]] const std::vector<SignalChoice>& signal_choices();

}  // namespace pyrometer::tui
