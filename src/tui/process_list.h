// The processes on all GPUs as rows: filtered, sorted, as a tree where wanted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tui/state.h"

namespace pyrometer::tui {

// Refers to the sight that it was made from.
struct ProcessRow {
  ProcessId id;
  std::string gpu;                              // label of the device, empty where on none
  const readout::Process* process = nullptr;    // null: only started others
  const readout::HostProcess* host = nullptr;   // null: nothing is known of it
  const readout::Training* training = nullptr;  // null: not recorded
  int depth = 0;                                // in the tree
};

[[nodiscard]] std::vector<ProcessRow> list_processes(const Sight& sight, const Ui& ui);

// Texts of a row; empty where there is nothing to say.
[[nodiscard]] std::string user_of(const ProcessRow& row);
[[nodiscard]] std::string program_of(const ProcessRow& row);  // arguments where they are known
[[nodiscard]] std::string place_of(const ProcessRow& row);    // Slurm job, pod or container
// Numbers of a row.
[[nodiscard]] std::optional<double> gpu_memory_of(const ProcessRow& row);
[[nodiscard]] std::optional<double> sm_share_of(const ProcessRow& row);
[[nodiscard]] std::optional<double> cpu_share_of(const ProcessRow& row);
[[nodiscard]] std::optional<double> host_memory_of(const ProcessRow& row);
[[nodiscard]] std::optional<double> running_of(const ProcessRow& row);  // seconds

[[nodiscard]] std::string_view sort_name(SortKey key);
// Largest first is what one wants of numbers that tell who uses most.
[[nodiscard]] bool descends_at_first(SortKey key);

}  // namespace pyrometer::tui
