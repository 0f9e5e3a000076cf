// The lines of processes below their GPUs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "output/page.h"
#include "readout/snapshot.h"

namespace pyrometer::readout {

class ProcessRows {
 public:
  // Lays columns out over the processes of all devices.
  ProcessRows(const Snapshot& snapshot, int width, bool unicode);

  [[nodiscard]] bool empty() const { return table_.rows.empty(); }
  void put_titles(output::Page& page) const;
  void put(output::Page& page, const Device& device) const;

 private:
  void put_row(output::Page& page, const std::vector<std::string>& cells, output::Ink ink) const;

  output::Table table_;
  output::TableLayout layout_;
  std::vector<std::pair<const Device*, std::size_t>> owners_;  // device and row
  bool unicode_;
};

// Values of a process that may be missing, by the name that people know them by.
[[nodiscard]] std::vector<std::pair<std::string_view, const Value*>> shown_values(
    const Process& process);

}  // namespace pyrometer::readout
