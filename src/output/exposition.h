// Metrics as text for Prometheus: its exposition format 0.0.4, and OpenMetrics 1.0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pyrometer::output {

enum class ExpositionFormat : std::uint8_t { kText, kOpenMetrics };

[[nodiscard]] std::string_view content_type(ExpositionFormat format);

enum class MetricType : std::uint8_t {
  kGauge,
  kCounter,  // the name ends in _total
  kSummary,  // of _sum and _count alone
  // A counter whose name does not end in _total, for compatibility with another exporter:
  // OpenMetrics does not know such a counter and is told nothing of the type.
  kForeignCounter,
};

// Labels of a series, escaped: made once, used for many series.
class Labels {
 public:
  // `name` has to be a label name; values may be any bytes. A label without a value is left out:
  // to Prometheus that is the same.
  Labels& add(std::string_view name, std::string_view value);
  [[nodiscard]] const std::string& text() const { return text_; }  // `a="1",b="2"`

 private:
  std::string text_;
};

// Families are written one after the other, each with all its samples. What has no samples is not
// mentioned at all, and what is no number (NaN) is no sample: missing values are absent series.
class Exposition {
 public:
  explicit Exposition(ExpositionFormat format) : format_(format) {}

  // Both views have to live until the next family.
  void family(std::string_view name, MetricType type, std::string_view help,
              std::string_view unit = {});
  void sample(const Labels& labels, double value) { sample({}, labels, value); }
  // With the suffix that summaries need: "_sum", "_count".
  void sample(std::string_view suffix, const Labels& labels, double value);

  // A part that was written before, complete families.
  void append(std::string_view families) { text_ += families; }
  // Ends the document.
  [[nodiscard]] std::string finish();
  // What there is so far, to be appended to another.
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void write_header();

  ExpositionFormat format_;
  std::string text_;
  std::string_view name_, help_, unit_;
  MetricType type_ = MetricType::kGauge;
  bool has_header_ = true;
};

}  // namespace pyrometer::output
