#include "analysis/kernel_classes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/kernel_class_rules.h"
#include "analysis/name_pattern.h"

namespace pyrometer::analysis {
namespace {

using model::ApiClass;
using model::Index;
using model::KernelTraits;

// A kernel's name in the forms that patterns look at.
struct KernelName {
  std::string whole;  // lower case, without unnamed namespaces
  std::string_view function;
  TrigramSet trigrams;
};

std::string normalised(std::string_view name) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string text;
  text.reserve(name.size());
  for (std::size_t i = 0; i < name.size();) {
    if (name[i] == '(' && name.substr(i).starts_with(kUnnamed)) {
      i += kUnnamed.size();
      continue;
    }
    const char c = name[i++];
    text.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return text;
}

class Matcher {
 public:
  explicit Matcher(const NameRule& rule)
      : function_(prepare(rule.function)),
        name_(prepare(rule.name)),
        all_(prepare(rule.all)),
        none_(prepare(rule.none)) {}

  [[nodiscard]] bool matches(const KernelName& name) const {
    const auto in_whole = [&](const NamePattern& p) { return p.occurs(name.whole, name.trigrams); };
    const auto in_function = [&](const NamePattern& p) {
      return p.occurs(name.function, name.trigrams);
    };
    if (!std::any_of(function_.begin(), function_.end(), in_function) &&
        !std::any_of(name_.begin(), name_.end(), in_whole)) {
      return false;
    }
    return std::all_of(all_.begin(), all_.end(), in_whole) &&
           std::none_of(none_.begin(), none_.end(), in_whole);
  }

 private:
  static std::vector<NamePattern> prepare(std::span<const std::string_view> texts) {
    return {texts.begin(), texts.end()};
  }
  std::vector<NamePattern> function_;
  std::vector<NamePattern> name_;
  std::vector<NamePattern> all_;
  std::vector<NamePattern> none_;
};

template <typename Rule>
std::vector<Matcher> matchers(std::span<const Rule> rules) {
  std::vector<Matcher> result;
  result.reserve(rules.size());
  for (const Rule& rule : rules) result.emplace_back(rule.rule);
  return result;
}

// The prepared rules, made on first use and never changed.
struct Tables {
  std::vector<Matcher> classes = matchers(kernel_class_rules());
  std::vector<Matcher> math = matchers(math_rules());
  Matcher cast{cast_rule()};
};

const Tables& tables() {
  static const Tables instance;
  return instance;
}

// Position of the first match, or the size.
std::size_t first_match(const std::vector<Matcher>& rules, const KernelName& name) {
  const auto at = std::find_if(rules.begin(), rules.end(),
                               [&](const Matcher& rule) { return rule.matches(name); });
  return static_cast<std::size_t>(at - rules.begin());
}

// Takes "_ptsz", "_ptds", "_spt" and "_v123" off the end, as often as they stand there.
std::string_view without_suffixes(std::string_view name) {
  for (;;) {
    const std::size_t bar = name.rfind('_');
    if (bar == std::string_view::npos || bar == 0) return name;
    const std::string_view tail = name.substr(bar + 1);
    const bool version = tail.size() >= 2 && tail.front() == 'v' &&
                         tail.find_first_not_of("0123456789", 1) == std::string_view::npos;
    if (!version && tail != "ptsz" && tail != "ptds" && tail != "spt") return name;
    name = name.substr(0, bar);
  }
}

}  // namespace

std::string_view function_name(std::string_view name) {
  constexpr std::string_view kVoid = "void ";
  if (name.starts_with(kVoid)) name.remove_prefix(kVoid.size());
  constexpr std::string_view kTypeEnd = ">::type ";
  if (name.starts_with("std::enable_if<")) {
    const std::size_t end = name.find(kTypeEnd);
    if (end != std::string_view::npos) name.remove_prefix(end + kTypeEnd.size());
  }
  return name.substr(0, name.find_first_of("<("));
}

KernelTraits classify_kernel(std::string_view name) {
  const std::string whole = normalised(name);
  const KernelName forms{whole, function_name(whole), TrigramSet(whole)};
  KernelTraits traits;
  const std::size_t rule = first_match(tables().classes, forms);
  if (rule < kernel_class_rules().size()) {
    traits.klass = kernel_class_rules()[rule].klass;
    traits.matrix_units = kernel_class_rules()[rule].matrix_units;
  }
  if (model::is_matrix_class(traits.klass)) {
    const std::size_t math = first_match(tables().math, forms);
    if (math < math_rules().size()) traits.math = math_rules()[math].math;
  } else {
    traits.cast = tables().cast.matches(forms);
  }
  return traits;
}

ApiClass classify_api_call(std::string_view name) {
  name = without_suffixes(name);
  const auto exact = api_call_names();
  const auto at =
      std::lower_bound(exact.begin(), exact.end(), name,
                       [](const ApiCallRule& rule, std::string_view n) { return rule.text < n; });
  if (at != exact.end() && at->text == name) return at->klass;
  for (const ApiCallRule& rule : api_call_prefixes()) {
    if (name.starts_with(rule.text)) return rule.klass;
  }
  return ApiClass::kOther;
}

void classify_names(const model::RankTimeline& t, model::RankAnalysis& a) {
  const std::size_t names = t.names.size();
  std::vector<bool> seen(names, false);
  a.kernel_traits.assign(names, {});
  for (Index i = 0; i < t.activities.size(); ++i) {
    const model::NameId name = t.activities.name[i];
    if (seen[name] || t.activities.kind[i] != model::ActivityKind::kKernel) continue;
    seen[name] = true;
    a.kernel_traits[name] = classify_kernel(t.name(name));
  }
  seen.assign(names, false);
  a.api_class.assign(names, ApiClass::kOther);
  for (const model::NameId name : t.api_calls.name) {
    if (seen[name]) continue;
    seen[name] = true;
    a.api_class[name] = classify_api_call(t.name(name));
  }
}

}  // namespace pyrometer::analysis
