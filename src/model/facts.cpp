#include "model/facts.h"

#include <utility>

namespace pyrometer::model {

FactSet::FactSet() : slots_(kFactCount) {}

void FactSet::set(FactId id, double value) {
  slots_[static_cast<std::size_t>(id)] = Slot{State::kNumber, value, {}};
}
void FactSet::set_text(FactId id, std::string text) {
  slots_[static_cast<std::size_t>(id)] = Slot{State::kText, 0, std::move(text)};
}
void FactSet::set_missing(FactId id, std::string reason) {
  slots_[static_cast<std::size_t>(id)] = Slot{State::kMissing, 0, std::move(reason)};
}
std::optional<double> FactSet::value(FactId id) const {
  const Slot& slot = slots_[static_cast<std::size_t>(id)];
  if (slot.state != State::kNumber) return std::nullopt;
  return slot.number;
}
double FactSet::value_or(FactId id, double fallback) const { return value(id).value_or(fallback); }
std::string_view FactSet::text(FactId id) const {
  const Slot& slot = slots_[static_cast<std::size_t>(id)];
  return slot.state == State::kText ? std::string_view(slot.text) : std::string_view();
}
bool FactSet::has(FactId id) const {
  const State state = slots_[static_cast<std::size_t>(id)].state;
  return state == State::kNumber || state == State::kText;
}
bool FactSet::judged(FactId id) const {
  return slots_[static_cast<std::size_t>(id)].state != State::kNotRun;
}
std::string_view FactSet::missing_reason(FactId id) const {
  const Slot& slot = slots_[static_cast<std::size_t>(id)];
  if (slot.state == State::kMissing) return slot.text;
  if (slot.state == State::kNotRun) return "the analysis that measures it did not run";
  return {};
}

}  // namespace pyrometer::model
