// Findings: verdicts with their evidence, prediction and fix.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/types.h"

namespace pyrometer::model {

enum class Severity : std::uint8_t { kInfo, kWarning, kCritical };
enum class Confidence : std::uint8_t { kLow, kMedium, kHigh };

// A measured value against the threshold that made the rule fire. Shown side by side.
struct Evidence {
  std::string fact;  // fact id, or a short label
  double value = 0;
  std::string unit;        // "fraction", "ns", "count", …; see docs/reference/facts.md
  std::string comparison;  // ">=", "<", … or "" when there is no threshold
  std::optional<double> threshold;
  std::string threshold_source;  // where the threshold comes from
  std::string note;              // e.g. a name or "rank 1"
};

// Predicted mean step time after the fix, ns, without the profiler.
struct Prediction {
  double low_ns = 0;  // best case
  double mid_ns = 0;
  double high_ns = 0;         // worst case
  double baseline_ns = 0;     // same model, nothing changed (profiler cost taken out)
  double baseline_error = 0;  // |replay − measured| / measured on the uncorrected trace
  std::string model;          // which what-if, in words
  [[nodiscard]] double speedup_low() const { return baseline_ns / high_ns; }
  [[nodiscard]] double speedup_high() const { return baseline_ns / low_ns; }
};

struct Finding {
  std::string id;  // from catalog/findings.json, e.g. "input.serial_loader"
  Severity severity = Severity::kInfo;
  Confidence confidence = Confidence::kMedium;
  std::string title;    // one clause
  std::string summary;  // one or two sentences with numbers, for a tired engineer
  std::vector<Evidence> evidence;
  std::vector<std::int32_t> ranks;       // ranks it concerns
  double share_of_time = 0;              // 0–1 of the window × devices that the symptom occupies
  std::optional<Prediction> prediction;  // absent: not predicted, `no_prediction` says why
  std::string no_prediction;
  std::string order;               // why it stands below a less severe one; mostly empty
  std::string fix;                 // what to do, in words
  std::string fix_code;            // the edit, as code; may be empty
  std::vector<std::string> where;  // operators, annotations, file:line
};

// A rule that could not judge, and what it would need.
struct NotJudged {
  std::string id;
  std::string reason;  // completes "not judged: …"
};

struct Diagnosis {
  std::vector<Finding> findings;  // most recoverable time first; info last
  std::vector<NotJudged> not_judged;
  std::optional<Prediction> joint;  // all fixes together; not the sum of each
  std::string verdict;              // one sentence
};

}  // namespace pyrometer::model
