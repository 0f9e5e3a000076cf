// `pyrometer compare` in words and in JSON.
#pragma once

#include <string>

#include "base/json_writer.h"
#include "output/document.h"
#include "verify/comparison.h"

namespace pyrometer::output {

// `top_n`: rows of tables sorted by weight; `verbose`: all of them.
[[nodiscard]] Document compare_document(const verify::Comparison& comparison, int top_n,
                                        bool verbose);

// Schema pyrometer.compare/1: docs/reference/compare.schema.json.
bool write_compare_json(const verify::Comparison& comparison, const base::TextSink& sink);

// One sentence: which is faster, by how much, how sure that is.
[[nodiscard]] std::string describe_difference(const verify::Comparison& comparison);

}  // namespace pyrometer::output
