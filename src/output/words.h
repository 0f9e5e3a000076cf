// Words for the enumerations of the model. `id` is for programs and never changes; `name` is for
// people.
#pragma once

#include <string_view>

#include "model/activity_class.h"
#include "model/comm.h"
#include "model/finding.h"
#include "model/generated/causes.h"
#include "model/import_stats.h"
#include "model/patterns.h"
#include "model/pauses.h"
#include "model/steps.h"
#include "model/timeline.h"

namespace pyrometer::output {

struct Word {
  std::string_view id;
  std::string_view name;
};

[[nodiscard]] Word word_for(model::Severity severity);
[[nodiscard]] Word word_for(model::Confidence confidence);
[[nodiscard]] Word word_for(model::CauseGroup group);
[[nodiscard]] Word word_for(model::KernelClass klass);
[[nodiscard]] Word word_for(model::MatrixUnits units);
[[nodiscard]] Word word_for(model::MathType math);
[[nodiscard]] Word word_for(model::ApiClass klass);
[[nodiscard]] Word word_for(model::Collective collective);
[[nodiscard]] Word word_for(model::CopyKind kind);
[[nodiscard]] Word word_for(model::HostMemory memory);
[[nodiscard]] Word word_for(model::LoaderKind kind);
[[nodiscard]] Word word_for(model::StepSource source);
[[nodiscard]] Word word_for(model::RankSource source);
[[nodiscard]] Word word_for(model::StatSeverity severity);
[[nodiscard]] Word word_for(model::CriticalSegment::Kind kind);

}  // namespace pyrometer::output
