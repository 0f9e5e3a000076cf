// Files readings of one NPU. A call that fails leaves its reason.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sources/ascend/ascend_source.h"

namespace pyrometer::sources::ascend {

class NpuReader {
 public:
  NpuReader(const Api& api, Npu& npu, Batch& batch) : api_(api), npu_(npu), batch_(batch) {}

  void read_fast();
  void read_slow(bool brief);
  void read_once();
  // The device stopped answering.
  [[nodiscard]] bool is_gone() const { return is_gone_; }

 private:
  void put(MetricId metric, Value value);
  void missing(MetricId metric, const Gap& gap) {
    put(metric, Value::missing(gap.absence, gap.text));
  }
  std::optional<double> file(MetricId metric, Return code, double value);
  void read_memory();
  void read_health();
  void read_ecc();
  std::optional<double> frequency(MetricId metric, int kind);

  const Api& api_;
  Npu& npu_;
  Batch& batch_;
  bool is_gone_ = false;
};

}  // namespace pyrometer::sources::ascend
