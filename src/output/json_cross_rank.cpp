#include "output/json_parts.h"
#include "output/words.h"

namespace pyrometer::output {
namespace {

using base::JsonLayout;
using base::JsonWriter;

// The number of the rank at a position, null when there is none.
std::optional<std::int32_t> rank_at(const Report& report, model::Index position) {
  if (position >= report.timeline.ranks.size()) return std::nullopt;
  return report.timeline.ranks[position].info.rank;
}

void write_balance_row(JsonWriter& json, const model::RankBalanceRow& row) {
  json.begin_object(JsonLayout::kInline);
  json.member("rank", row.rank);
  json.member("step_mean_ns", whole_ns(row.step_mean_ns));
  json.member("compute_per_step_ns", whole_ns(row.compute_ns));
  json.member("idle_per_step_ns", whole_ns(row.idle_ns));
  json.member("exposed_comm_per_step_ns", whole_ns(row.exposed_comm_ns));
  json.member("waiting_per_step_ns", whole_ns(row.waiting_ns));
  json.member("caused_wait_per_step_ns", whole_ns(row.caused_wait_ns));
  json.member("late_share", row.late_share);
  json.member("own_compute_per_step_ns", whole_ns(row.own_compute_ns));
  json.member("own_copy_per_step_ns", whole_ns(row.own_copy_ns));
  json.member("own_input_per_step_ns", whole_ns(row.own_input_ns));
  json.member("own_host_per_step_ns", whole_ns(row.own_host_ns));
  json.end_object();
}

void write_clock(JsonWriter& json, const model::ClockMap& clock) {
  json.begin_object(JsonLayout::kInline);
  json.member("known", clock.known);
  json.member("offset_ns", clock.known ? std::optional(clock.offset) : std::nullopt);
  json.member("origin_ns", clock.known ? std::optional(clock.origin) : std::nullopt);
  json.member("drift", clock.known ? std::optional(clock.drift) : std::nullopt);
  json.end_object();
}

void write_match(JsonWriter& json, const Report& report, const model::CollectiveMatch& match) {
  json.begin_object(JsonLayout::kInline);
  json.member("collective", word_for(match.collective).id);
  json.member("bytes", if_known(match.bytes));
  json.member("group_size", if_known(match.group_size));
  json.member("complete", match.complete);
  json.member("last_rank", rank_at(report, match.last_rank));
  json.end_object();
}

}  // namespace

void write_cross_rank_json(JsonWriter& json, const Report& report) {
  const model::CrossRank& cross = report.job.cross;
  json.begin_object();
  json.member("matched", cross.matched);
  json.member("how", if_given(cross.how));
  json.member("slow_rank", rank_at(report, cross.slow_rank));
  json.member("slow_cause", if_given(cross.slow_cause));
  json.member("imbalance", cross.matched ? std::optional(cross.imbalance) : std::nullopt);
  json.member("clock_spread_ns", cross.matched ? whole_ns(cross.clock_spread_ns) : std::nullopt);
  json.key("clocks");
  json.begin_array();
  for (const model::ClockMap& clock : cross.clock) write_clock(json, clock);
  json.end_array();
  json.key("balance");
  json.begin_array();
  for (const model::RankBalanceRow& row : cross.balance) write_balance_row(json, row);
  json.end_array();
  json.key("collectives");
  json.begin_array();
  for (const model::CollectiveMatch& match : cross.matches) write_match(json, report, match);
  json.end_array();
  json.end_object();
}

}  // namespace pyrometer::output
