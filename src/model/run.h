// What a recording knows of a run beyond the events of its kept steps: the whole run, from start to
// end, in bounded size. Passive; written by the recorder, read by passes, rules and outputs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/types.h"
#include "model/waterfall.h"

namespace pyrometer::model {

// One training step, or several short ones in a row, on one device.
struct RecordedStep {
  std::int64_t index = 0;   // of the first one
  std::int64_t count = 1;   // steps in this row; 0: a slice of time in which no step was marked
  std::int32_t device = 0;  // CUDA ordinal as the process sees it, -1: no device was used
  Interval span;
  DurationNs longest = 0;    // of the steps in this row
  std::int64_t samples = 0;  // -1: not known
  DurationNs input_wait = 0;
  bool captured = false;  // the device was watched from start to end: `causes` sums to the span
  CauseTimes causes{};
};

// Time in a kind of host region over the whole run, main thread.
struct RegionTotal {
  std::string kind;  // "checkpoint", "validation", …
  std::int64_t count = 0;
  DurationNs total = 0;
  DurationNs longest = 0;
  std::int64_t amount = 0;  // bytes of checkpoints, 0 where it has no meaning
};

// Calls at one line that made the host wait for the device, in the moments in which they were
// named.
struct BlockingLine {
  std::string call;  // "item", "cpu", "synchronize", …
  std::string line;  // "train.py:58", the innermost of the user's own code; "-": none
  std::int64_t count = 0;
  DurationNs total = 0;
  DurationNs longest = 0;
};

struct CaptureSpan {
  Interval span;
  bool on = false;
  std::string reason;
};

// What the recorder itself cost, by comparing steps with and without GPU capture in the same run.
struct OverheadEstimate {
  bool measured = false;
  std::string why_not;         // when not measured
  double ratio = 0;            // (step time with capture / without) - 1
  double low = 0, high = 0;    // 95% interval of it
  double duty = 1;             // share of the run's steps with capture on
  double switching = 0;        // of the run's steps: what those around switches took longer
  std::int64_t windows = 0;    // turns compared with those around them
  DurationNs hook_cpu = 0;     // measured cost of the hook, 0: not measured
  DurationNs monitor_cpu = 0;  // CPU time of the monitor, whole run
};

struct CounterPoint {
  TimeNs time = 0;
  double value = 0;
};

// A number of the machine or of a process over the whole run.
struct CounterSummary {
  std::string name;
  std::string unit;
  std::string object;  // "gpu 0", "host", "process 123", …; "process": told by the process itself
  std::int64_t count = 0;
  double first = 0, last = 0, min = 0, max = 0, mean = 0;
  // Readings by time: all of them, or every 2nd, 4th … of long series, and the last; at most
  // kMostCounterPoints.
  std::vector<CounterPoint> points;
};

inline constexpr std::size_t kMostCounterPoints = 512;

// A text of the machine, such as a governor's name, or the reason why a number is not known, each
// from the moment on at which it changed.
struct CounterText {
  std::string name;
  std::string object;
  struct Change {
    TimeNs time = 0;
    bool is_reason = false;  // why there is no value, not a value
    std::string text;
  };
  std::vector<Change> changes;  // by time, at most kMostCounterPoints, the latest
};

// A GPU as the process sees it.
struct UsedDevice {
  std::int32_t ordinal = 0;
  std::string uuid;  // "" where it is not known
};

// Energy between two readings of a meter.
struct EnergyWindow {
  Interval span;
  double joules = 0;
};

inline constexpr std::size_t kMostEnergyWindows = 512;

// What one meter of energy showed during the run. Missing is not zero: either `missing` says why
// there is nothing, or the spans say for which time the figures hold.
struct EnergySeries {
  std::string meter;         // "counter", "polled": of a GPU; "cpu", "memory": of the machine
  std::string object;        // "gpu 0": as the source numbers it; "host"
  std::int32_t device = -1;  // CUDA ordinal as the process sees it; -1: the machine
  double joules = 0;         // over `span`
  Interval span;             // first to last reading within the run
  double step_joules = 0;    // over `step_span`
  Interval step_span;        // of first step's start to last step's end, what readings cover
  // The same by time: from reading to reading, neighbours joined in long runs, so that there are at
  // most kMostEnergyWindows.
  std::vector<EnergyWindow> windows;
  std::string missing;  // "" where there are figures
};

struct RecordedRun {
  Interval span;                // process start to end, or to the last thing recorded
  bool ended = false;           // false: still running, or the recorder was killed
  std::int32_t exit_code = -1;  // of the command
  std::int32_t exit_signal = 0;
  std::int64_t steps_total = 0;
  std::vector<RecordedStep> steps;  // by time
  std::vector<RegionTotal> regions;
  std::vector<CaptureSpan> capture;
  std::map<std::string, std::string> info;  // of the process: "torch.version" …
  std::int32_t pid = 0;                     // of the process, 0: not known
  std::vector<UsedDevice> devices;          // by ordinal
  std::vector<CounterSummary> counters;     // by object and name
  std::vector<CounterText> texts;           // by object and name
  std::vector<std::pair<std::string, std::int64_t>> host_lines;  // "file:line function", samples
  std::vector<BlockingLine> blocking_lines;                      // longest in sum first
  std::vector<EnergySeries> energy;  // of the GPUs that the process used, and of the machine
  OverheadEstimate overhead;
  DurationNs kept = 0;  // device time of which all events are kept (the analysed window)
};

}  // namespace pyrometer::model
