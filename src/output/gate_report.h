// What `pyrometer gate` says, in words, JSON and JUnit XML.
#pragma once

#include <string>

#include "base/json_writer.h"
#include "output/document.h"
#include "verify/gate.h"

namespace pyrometer::output {

[[nodiscard]] Document gate_document(const verify::GateResult& result);

// Schema pyrometer.gate/1: docs/reference/gate.schema.json.
bool write_gate_json(const verify::GateResult& result, const base::TextSink& sink);

// A test suite with one test case per limit, as CI systems read it: not kept is a failure, not
// judged an error, not decided skipped with the reason.
[[nodiscard]] std::string gate_junit(const verify::GateResult& result);

}  // namespace pyrometer::output
