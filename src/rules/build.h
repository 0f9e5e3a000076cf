// Helpers that rules share to make findings.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule.h"

namespace pyrometer::rules {

// A finding filled from the catalog: title, fix and code.
[[nodiscard]] Verdict start_verdict(std::string_view id, Role role = Role::kCause);

// Severity from the thresholds "warn" and "critical" of the finding (a finding that only has a
// single limit is a warning).
[[nodiscard]] model::Severity severity_for(const Context& context, std::string_view id,
                                           double value);

// Appends a fact against threshold `name` of the finding (no threshold when `name` is empty).
void add_evidence(const Context& context, Verdict& verdict, model::FactId fact, double value,
                  std::string_view threshold = {}, std::string note = {},
                  std::string_view comparison = ">=");

// A fact of a rank, where that rank has it.
void add_fact(const Context& context, Verdict& verdict, const model::FactSet& facts,
              model::FactId fact, std::string_view threshold = {},
              std::string_view comparison = ">=");

// The same for a measurement that is no fact of the catalog.
void add_measure(const Context& context, Verdict& verdict, std::string label, double value,
                 std::string unit, std::string_view threshold = {}, std::string note = {},
                 std::string_view comparison = ">=");

void set_edits(Verdict& verdict, analysis::Edit best, analysis::Edit expected, analysis::Edit worst,
               std::string model_in_words);

// Gain of an edit on the mean step without the profiler, as a fraction of it; 0 when nothing can be
// predicted.
[[nodiscard]] double gain(const Context& context, const analysis::Edit& edit);

// Part of the host time of all operators of a rank that lies in operators of these names, nested
// ones included; 0 when there are none. Nested names are counted once, by their outermost.
[[nodiscard]] double operator_share(const Context& context, std::size_t position,
                                    std::initializer_list<std::string_view> names);

// "37.0%" and "18.3 ms", for sentences: as the tables write them.
[[nodiscard]] std::string percent(double fraction);
[[nodiscard]] std::string duration(double ns);
// "12.3 MiB".
[[nodiscard]] std::string bytes(double number);

// A sentence for findings about pauses that were recognised by their pattern: where the waterfall
// has their time, "The table has it under other host code (58.1%) and device-to-host copy (3.3%).";
// empty where nothing of `cause` was inferred on that rank.
[[nodiscard]] std::string where_counted(const Context& context, std::size_t position,
                                        model::Cause cause);

// Why `pyrometer run` saw nothing of a GPU that the process used; empty where it did, or where the
// process used none.
[[nodiscard]] std::string capture_refused(const model::RankTimeline& rank);

void not_judged(Judgement& judgement, std::string_view id, std::string reason);

}  // namespace pyrometer::rules
