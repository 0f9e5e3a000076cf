// Questions to the counters of a recorded run, limited to a stretch of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.h"
#include "model/types.h"

namespace pyrometer::analysis {

// The stretch in which the training made steps, without the first one where there are three or
// more: it warms up. Empty where there are no steps.
[[nodiscard]] model::Interval training_span(const model::RecordedRun& run);

class RunCounters {
 public:
  // Refers to `run`. Answers are about `window`.
  RunCounters(const model::RecordedRun& run, model::Interval window) : run_(run), window_(window) {}

  // Over the readings within the window; absent with fewer than `least` of them.
  struct Gauge {
    double mean = 0, min = 0, max = 0, last = 0;
  };
  [[nodiscard]] std::optional<Gauge> gauge(std::string_view object, std::string_view name,
                                           std::size_t least = kLeastReadings) const;

  // Of a number that only grows: by how much it grew per ns, between the readings that lie nearest
  // to the window's ends (between two readings it grows evenly). Absent where these are less than
  // kLeastSpan apart.
  [[nodiscard]] std::optional<double> rate(std::string_view object, std::string_view name) const;

  // By how much it grew over the whole run; absent where there is no reading.
  [[nodiscard]] std::optional<double> growth(std::string_view object, std::string_view name) const;

  // The last reading of the run, whenever it was; for what hardly changes.
  [[nodiscard]] std::optional<double> latest(std::string_view object, std::string_view name) const;

  // Readings within the window.
  [[nodiscard]] std::vector<model::CounterPoint> points(std::string_view object,
                                                        std::string_view name) const;

  // The latest text, "" where there is none; why there is no value, "" where that is not known.
  [[nodiscard]] std::string text(std::string_view object, std::string_view name) const;
  [[nodiscard]] std::string reason(std::string_view object, std::string_view name) const;

  [[nodiscard]] const model::CounterSummary* find(std::string_view object,
                                                  std::string_view name) const;
  [[nodiscard]] const model::CounterText* find_text(std::string_view object,
                                                    std::string_view name) const;
  [[nodiscard]] model::Interval window() const { return window_; }

  static constexpr std::size_t kLeastReadings = 5;
  static constexpr model::DurationNs kLeastSpan = 4'000'000'000;

 private:
  const model::RecordedRun& run_;
  model::Interval window_;
};

// The number that ends an object's name, "process 123" → 123; nullopt where it does not begin with
// `prefix` or no number follows.
[[nodiscard]] std::optional<std::int64_t> number_after(std::string_view object,
                                                       std::string_view prefix);

}  // namespace pyrometer::analysis
