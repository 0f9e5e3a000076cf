// Launch configurations of one decoder: equal ones share an id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "importers/kineto/rows.h"
#include "model/timeline.h"

namespace pyrometer::importers::kineto {

class LocalConfigs {
 public:
  LocalConfigs();
  [[nodiscard]] LocalId intern(const model::KernelConfig& config);
  // Appends the configurations of the ids that are new since the last call.
  void take_new(std::vector<model::KernelConfig>& out);

 private:
  void grow();
  std::vector<model::KernelConfig> configs_;
  std::vector<LocalId> slots_;  // open addressing, power of two, kNone = free
  std::size_t published_ = 0;
};

}  // namespace pyrometer::importers::kineto
