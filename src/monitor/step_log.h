// Writes the table of steps in bounded size: short steps in a row share one row.
#pragma once

#include <vector>

#include "model/run.h"
#include "recording/writer.h"

namespace pyrometer::monitor {

class StepLog {
 public:
  StepLog(recording::Writer& writer, std::int64_t process) : writer_(writer), process_(process) {}

  // In time order; the devices of one step follow each other.
  void add(const model::RecordedStep& step);
  // Writes what is still held.
  void flush();
  // Puts what is held, and `pending` steps that are still to come to add(), where a kill cannot
  // take them.
  void save(const std::vector<model::RecordedStep>& pending);

 private:
  recording::Writer& writer_;
  std::int64_t process_;
  std::vector<model::RecordedStep> held_;  // one per device
};

}  // namespace pyrometer::monitor
