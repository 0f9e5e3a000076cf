// What `pyrometer tune` says, in words and in JSON.
#pragma once

#include "base/json_writer.h"
#include "output/document.h"
#include "output/scatter.h"
#include "tune/result.h"

namespace pyrometer::output {

[[nodiscard]] Document tune_document(const tune::TuneResult& result);

// Schema pyrometer.tune/1: docs/reference/tune.schema.json.
bool write_tune_json(const tune::TuneResult& result, const base::TextSink& sink);

// One sentence.
[[nodiscard]] std::string tune_verdict(const tune::TuneResult& result);

// "512 samples per second": the objective of a trial with this cost.
[[nodiscard]] std::string describe_objective(double cost, tune::Objective objective);

// The configurations as bars by the objective, and the fronts: an <svg> element, empty where
// nothing was measured.
[[nodiscard]] std::string tune_chart(const tune::TuneResult& result);

// Throughput against what it costs.
[[nodiscard]] Scatter front_scatter(const tune::TuneResult& result, const tune::Front& front);

}  // namespace pyrometer::output
