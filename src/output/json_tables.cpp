#include "output/json_parts.h"
#include "output/words.h"

namespace pyrometer::output {
namespace {

using base::JsonLayout;
using base::JsonWriter;

std::optional<std::string_view> name_of(const model::RankTimeline& timeline, model::NameId id) {
  return id == 0 ? std::nullopt : std::optional(timeline.name(id));
}

void write_traits_members(JsonWriter& json, model::KernelClass klass, model::MatrixUnits units,
                          model::MathType math) {
  json.member("class", word_for(klass).id);
  json.member("matrix_units", word_for(units).id);
  json.member("math", word_for(math).id);
}

}  // namespace

void write_kernels_json(JsonWriter& json, const model::RankTimeline& timeline,
                        const model::KernelTable& kernels) {
  json.begin_object();
  json.key("all");
  json.begin_object(JsonLayout::kInline);
  write_stats_members(json, kernels.all);
  json.end_object();
  json.key("by_class");
  json.begin_array();
  for (const model::ClassRow& row : kernels.by_class) {
    json.begin_object(JsonLayout::kInline);
    write_traits_members(json, row.klass, row.matrix_units, row.math);
    write_stats_members(json, row.stats);
    json.member("share", row.share);
    json.end_object();
  }
  json.end_array();
  json.key("by_name");
  json.begin_array();
  for (const model::KernelRow& row : kernels.by_name) {
    json.begin_object(JsonLayout::kInline);
    json.member("name", timeline.name(row.name));
    write_traits_members(json, row.traits.klass, row.traits.matrix_units, row.traits.math);
    write_stats_members(json, row.stats);
    json.member("share", row.share);
    json.member("registers_per_thread", if_known(row.registers));
    json.member("occupancy_pct", if_known(static_cast<double>(row.occupancy_pct)));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_operators_json(JsonWriter& json, const model::RankTimeline& timeline,
                          const model::HostSide& host) {
  json.begin_array();
  for (const model::OpRow& row : host.ops) {
    json.begin_object(JsonLayout::kInline);
    json.member("name", timeline.name(row.name));
    json.member("is_annotation", row.is_annotation);
    json.member("count", row.count);
    json.member("host_total_ns", row.host_total);
    json.member("host_self_ns", row.host_self);
    json.member("device_total_ns", row.device_total);
    json.member("device_self_ns", row.device_self);
    json.member("activities", row.kernels);
    json.end_object();
  }
  json.end_array();
}

void write_blocking_calls_json(JsonWriter& json, const model::RankTimeline& timeline,
                               const model::HostSide& host) {
  json.begin_array();
  for (const model::SyncRow& row : host.syncs) {
    json.begin_object(JsonLayout::kInline);
    json.member("api", timeline.name(row.api));
    json.member("class", word_for(row.klass).id);
    json.member("operator", name_of(timeline, row.op));
    json.member("leaf_operator", name_of(timeline, row.leaf_op));
    json.member("annotation", name_of(timeline, row.annotation));
    json.member("python", name_of(timeline, row.python));
    json.member("count", row.count);
    json.member("per_step", row.per_step);
    json.member("blocked_ns", row.blocked);
    json.member("waiting_busy_ns", row.waiting_busy);
    json.member("waiting_idle_ns", row.waiting_idle);
    json.member("drained_after_ns", row.drained_after);
    json.end_object();
  }
  json.end_array();
}

void write_copies_json(JsonWriter& json, const model::Transfers& transfers) {
  json.begin_array();
  for (const model::CopyRow& row : transfers.copies) {
    json.begin_object(JsonLayout::kInline);
    json.member("kind", word_for(row.kind).id);
    json.member("is_memset", row.is_memset);
    json.member("host_memory", word_for(row.host).id);
    write_stats_members(json, row.stats);
    json.member("bytes", if_known(row.bytes));
    json.member("bandwidth_gb_per_s", if_known(row.bandwidth_gbs));
    json.member("below_64_kib", row.small_count);
    json.member("exposed_ns", row.exposed);
    json.end_object();
  }
  json.end_array();
}

void write_allocator_json(JsonWriter& json, const model::AllocatorStats& allocator) {
  json.begin_object();
  json.member("malloc_calls", allocator.malloc_calls);
  json.member("free_calls", allocator.free_calls);
  json.member("mallocs_per_steady_step", allocator.mallocs_per_step);
  json.member("frees_per_steady_step", allocator.frees_per_step);
  json.member("host_ns", allocator.time);
  json.member("every_step", allocator.every_step);
  json.end_object();
}

void write_communication_json(JsonWriter& json, const model::CommTable& comm) {
  json.begin_object();
  json.member("total_ns", comm.total);
  json.member("exposed_ns", comm.exposed);
  json.member("overlap", if_known(comm.overlap));
  json.key("collectives");
  json.begin_array();
  for (const model::CommRow& row : comm.rows) {
    json.begin_object(JsonLayout::kInline);
    json.member("collective", row.collective);
    json.member("group", if_given(row.group));
    json.member("group_size", if_known(row.group_size));
    write_stats_members(json, row.stats);
    json.member("bytes", if_known(row.bytes));
    json.member("per_step", row.per_step);
    json.member("exposed_ns", row.exposed);
    json.member("overlapped_ns", row.overlapped);
    json.member("skew_ns", row.skew);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace pyrometer::output
