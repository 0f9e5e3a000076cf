// What `pyrometer try` says, in words and in JSON.
#pragma once

#include "base/json_writer.h"
#include "output/document.h"
#include "verify/trial_result.h"

namespace pyrometer::output {

[[nodiscard]] Document try_document(const verify::TryResult& result);

// Schema pyrometer.try/1: docs/reference/try.schema.json.
bool write_try_json(const verify::TryResult& result, const base::TextSink& sink);

// One sentence.
[[nodiscard]] std::string try_verdict(const verify::TryResult& result);

// All overrides, for --list.
[[nodiscard]] Document overrides_document();

// Schema pyrometer.overrides/1: docs/reference/overrides.schema.json.
bool write_overrides_json(const base::TextSink& sink);

}  // namespace pyrometer::output
