// Facts: named, typed measurements. Rules read Facts (and the result tables beside them), never
// traces. Missing is not zero: a fact has a value or the reason why it has none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/generated/facts.h"  // enum class FactId, kFactCount, fact_info(): name, unit, help, source pass

namespace pyrometer::model {

class FactSet {
 public:
  FactSet();
  void set(FactId id, double value);
  void set_text(FactId id, std::string text);
  // A fact that could not be measured; `reason` completes "not measured: …".
  void set_missing(FactId id, std::string reason);

  [[nodiscard]] std::optional<double> value(FactId id) const;
  [[nodiscard]] double value_or(FactId id, double fallback) const;
  [[nodiscard]] std::string_view text(FactId id) const;  // "" when missing or numeric
  [[nodiscard]] bool has(FactId id) const;
  // Whether a pass has set it, be it as missing.
  [[nodiscard]] bool judged(FactId id) const;
  // Never empty for a fact without a value: a pass that did not run counts as a reason.
  [[nodiscard]] std::string_view missing_reason(FactId id) const;

 private:
  enum class State : unsigned char { kNotRun, kMissing, kNumber, kText };
  struct Slot {
    State state = State::kNotRun;
    double number = 0;
    std::string text;
  };
  std::vector<Slot> slots_;
};

}  // namespace pyrometer::model
