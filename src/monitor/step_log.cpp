#include "monitor/step_log.h"

#include <algorithm>

namespace pyrometer::monitor {
namespace {

constexpr model::DurationNs kShortestRow = 50'000'000;  // ns: at most 20 rows a second and device

bool follows(const model::RecordedStep& held, const model::RecordedStep& next) {
  return held.span.length() < kShortestRow && held.captured == next.captured &&
         held.span.end == next.span.start && held.index + held.count == next.index &&
         (held.count == 0) == (next.count == 0);
}

void join(model::RecordedStep& held, const model::RecordedStep& next) {
  held.count += next.count;
  held.span.end = next.span.end;
  held.longest = std::max(held.longest, next.longest);
  held.samples = held.samples < 0 || next.samples < 0 ? -1 : held.samples + next.samples;
  held.input_wait += next.input_wait;
  for (std::size_t i = 0; i < held.causes.size(); ++i) held.causes[i] += next.causes[i];
}

}  // namespace

void StepLog::add(const model::RecordedStep& step) {
  const auto same_device =
      std::find_if(held_.begin(), held_.end(),
                   [&step](const model::RecordedStep& one) { return one.device == step.device; });
  if (same_device == held_.end()) {
    held_.push_back(step);
    return;
  }
  if (follows(*same_device, step)) {
    join(*same_device, step);
    return;
  }
  writer_.add_step(process_, *same_device);
  *same_device = step;
}

void StepLog::flush() {
  for (const model::RecordedStep& step : held_) writer_.add_step(process_, step);
  held_.clear();
  save({});
}

void StepLog::save(const std::vector<model::RecordedStep>& pending) {
  std::vector<model::RecordedStep> rows = held_;
  const std::size_t held = rows.size();
  for (const model::RecordedStep& step : pending) {
    if (rows.size() > held && follows(rows.back(), step)) {
      join(rows.back(), step);
    } else {
      rows.push_back(step);
    }
  }
  writer_.put_unfinished_steps(process_, rows);
}

}  // namespace pyrometer::monitor
