// The tables behind kernel and API-call classes, from catalog/kernel_classes.json and
// catalog/api_calls.json.
#pragma once

#include <span>
#include <string_view>

#include "model/activity_class.h"

namespace pyrometer::analysis {

// Patterns on a kernel's name, in lower case; syntax in name_pattern.h. Matches when one pattern of
// `function` (on the function's own name) or of `name` (on the whole name) does, all of `all` do
// and none of `none` does (both on the whole name).
struct NameRule {
  std::span<const std::string_view> function;
  std::span<const std::string_view> name;
  std::span<const std::string_view> all;
  std::span<const std::string_view> none;
};

struct KernelClassRule {
  model::KernelClass klass;
  model::MatrixUnits matrix_units;
  NameRule rule;
};

struct MathRule {
  model::MathType math;
  NameRule rule;
};

struct ApiCallRule {
  std::string_view text;
  model::ApiClass klass;
};

[[nodiscard]] std::span<const KernelClassRule> kernel_class_rules();  // first match wins
[[nodiscard]] std::span<const MathRule> math_rules();                 // first match wins
[[nodiscard]] const NameRule& cast_rule();
[[nodiscard]] std::span<const ApiCallRule> api_call_names();     // exact names, sorted
[[nodiscard]] std::span<const ApiCallRule> api_call_prefixes();  // first match wins

}  // namespace pyrometer::analysis
