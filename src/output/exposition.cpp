#include "output/exposition.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/utf8.h"

namespace pyrometer::output {
namespace {

constexpr std::string_view kTotal = "_total";

// Label values and help texts have to be UTF-8; line ends, backslashes and quotes are escaped.
void append_escaped(std::string& out, std::string_view text, bool quotes) {
  while (!text.empty()) {
    const base::CodePoint point = base::decode_utf8(text);
    if (!point.valid) {
      out += "\xEF\xBF\xBD";
    } else if (point.value == '\n') {
      out += "\\n";
    } else if (point.value == '\\') {
      out += "\\\\";
    } else if (point.value == '"' && quotes) {
      out += "\\\"";
    } else {
      out.append(text.substr(0, point.length));
    }
    text.remove_prefix(point.length);
  }
}

std::string_view type_name(MetricType type, ExpositionFormat format) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kSummary:
      return "summary";
    case MetricType::kForeignCounter:
      return format == ExpositionFormat::kOpenMetrics ? "unknown" : "counter";
    case MetricType::kGauge:
      break;
  }
  return "gauge";
}

}  // namespace

std::string_view content_type(ExpositionFormat format) {
  return format == ExpositionFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

Labels& Labels::add(std::string_view name, std::string_view value) {
  if (value.empty()) return *this;
  if (!text_.empty()) text_ += ',';
  text_ += name;
  text_ += "=\"";
  append_escaped(text_, value, true);
  text_ += '"';
  return *this;
}

void Exposition::family(std::string_view name, MetricType type, std::string_view help,
                        std::string_view unit) {
  name_ = name;
  type_ = type;
  help_ = help;
  unit_ = unit;
  has_header_ = false;
}

void Exposition::write_header() {
  has_header_ = true;
  const bool is_open = format_ == ExpositionFormat::kOpenMetrics;
  std::string_view family = name_;
  // OpenMetrics names the family, of which `_total` is a sample.
  if (is_open && type_ == MetricType::kCounter && family.ends_with(kTotal)) {
    family.remove_suffix(kTotal.size());
  }
  auto out = std::back_inserter(text_);
  fmt::format_to(out, FMT_COMPILE("# HELP {} "), family);
  append_escaped(text_, help_, is_open);
  fmt::format_to(out, FMT_COMPILE("\n# TYPE {} {}\n"), family, type_name(type_, format_));
  if (is_open && !unit_.empty() && family.ends_with(unit_)) {
    fmt::format_to(out, FMT_COMPILE("# UNIT {} {}\n"), family, unit_);
  }
}

void Exposition::sample(std::string_view suffix, const Labels& labels, double value) {
  if (!std::isfinite(value)) return;
  if (!has_header_) write_header();
  text_ += name_;
  text_ += suffix;
  if (!labels.text().empty()) {
    text_ += '{';
    text_ += labels.text();
    text_ += '}';
  }
  constexpr double kLargestWhole = 9007199254740992;  // 2^53
  auto out = std::back_inserter(text_);
  if (std::trunc(value) == value && std::abs(value) <= kLargestWhole) {
    fmt::format_to(out, FMT_COMPILE(" {}\n"), static_cast<std::int64_t>(value));
  } else {
    // 0.41 rather than 0.41000000000000003, which is 41 times 0.01.
    fmt::format_to(out, FMT_COMPILE(" {:.15g}\n"), value);
  }
}

std::string Exposition::finish() {
  if (format_ == ExpositionFormat::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace pyrometer::output
