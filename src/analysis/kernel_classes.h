// What kernels and API calls are, from their names.
#pragma once

#include <string_view>

#include "model/activity_class.h"
#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// By the first rule of catalog/kernel_classes.json that matches; kOther when none does.
[[nodiscard]] model::KernelTraits classify_kernel(std::string_view name);

// By catalog/api_calls.json; kOther for names that are not in it.
[[nodiscard]] model::ApiClass classify_api_call(std::string_view name);

// The function's own name: without return type, unnamed namespaces, template arguments and
// parameters. Mangled and plain names stay whole. `name` must be in lower case.
[[nodiscard]] std::string_view function_name(std::string_view name);

// Pass `classes`: fills kernel_traits and api_class, once per distinct name.
void classify_names(const model::RankTimeline& timeline, model::RankAnalysis& analysis);

}  // namespace pyrometer::analysis
