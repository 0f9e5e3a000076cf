#include "recording/schema.h"

#include <algorithm>

#include "model/waterfall.h"

namespace pyrometer::recording {
namespace {

std::string column_of(model::Cause cause) {
  std::string name(model::cause_info(cause).id);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

// A process is named by its row, a name by its id; times are ns of CLOCK_MONOTONIC, meta's
// realtime_offset_ns added gives ns since 1970.
constexpr char kTables[] = R"(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE process (
  id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, parent_pid INTEGER NOT NULL,
  start_ns INTEGER NOT NULL, end_ns INTEGER, rank INTEGER, world_size INTEGER, local_rank INTEGER,
  program TEXT NOT NULL, capture TEXT NOT NULL);
CREATE TABLE device (
  process INTEGER NOT NULL, ordinal INTEGER NOT NULL, name TEXT NOT NULL, uuid TEXT NOT NULL,
  total_memory_bytes INTEGER, compute_major INTEGER, compute_minor INTEGER,
  multiprocessors INTEGER, PRIMARY KEY (process, ordinal)) WITHOUT ROWID;
CREATE TABLE info (process INTEGER NOT NULL, time_ns INTEGER NOT NULL, key TEXT NOT NULL,
  value TEXT NOT NULL);
CREATE TABLE capture (process INTEGER NOT NULL, time_ns INTEGER NOT NULL, is_on INTEGER NOT NULL,
  reason TEXT NOT NULL);
CREATE TABLE kernel_config (
  id INTEGER PRIMARY KEY, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER,
  block_y INTEGER, block_z INTEGER, static_shared_bytes INTEGER, dynamic_shared_bytes INTEGER,
  registers_per_thread INTEGER);
CREATE TABLE kept_window (process INTEGER NOT NULL, start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL, why TEXT NOT NULL);
CREATE TABLE activity (
  process INTEGER NOT NULL, type INTEGER NOT NULL, start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL, name INTEGER NOT NULL, device INTEGER NOT NULL, stream INTEGER NOT NULL,
  correlation INTEGER NOT NULL, config INTEGER NOT NULL, bytes INTEGER NOT NULL,
  copy_kind INTEGER NOT NULL, memory_kinds INTEGER NOT NULL, graph INTEGER NOT NULL);
CREATE TABLE api_call (
  process INTEGER NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  name INTEGER NOT NULL, thread INTEGER NOT NULL, correlation INTEGER NOT NULL,
  result INTEGER NOT NULL);
CREATE TABLE host_range (
  process INTEGER NOT NULL, type TEXT NOT NULL, start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL, name INTEGER NOT NULL, thread INTEGER NOT NULL, a INTEGER NOT NULL,
  b INTEGER NOT NULL, flags INTEGER NOT NULL);
CREATE TABLE trial_step (
  process INTEGER NOT NULL, step INTEGER NOT NULL, start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL, variant TEXT NOT NULL, samples INTEGER, flags INTEGER NOT NULL);
CREATE TABLE counter (process INTEGER NOT NULL, name INTEGER NOT NULL, time_ns INTEGER NOT NULL,
  value REAL NOT NULL);
CREATE TABLE metric (id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL,
  object TEXT NOT NULL);
CREATE TABLE sample (metric INTEGER NOT NULL, time_ns INTEGER NOT NULL, value REAL);
CREATE TABLE missing (metric INTEGER NOT NULL, time_ns INTEGER NOT NULL, reason TEXT NOT NULL);
CREATE TABLE host_line (process INTEGER NOT NULL, name INTEGER NOT NULL, samples INTEGER NOT NULL,
  PRIMARY KEY (process, name)) WITHOUT ROWID;
CREATE TABLE blocking_line (process INTEGER NOT NULL, name INTEGER NOT NULL,
  count INTEGER NOT NULL, total_ns INTEGER NOT NULL, longest_ns INTEGER NOT NULL,
  PRIMARY KEY (process, name)) WITHOUT ROWID;
CREATE TABLE region_total (process INTEGER NOT NULL, type TEXT NOT NULL, count INTEGER NOT NULL,
  total_ns INTEGER NOT NULL, longest_ns INTEGER NOT NULL, amount INTEGER NOT NULL,
  PRIMARY KEY (process, type)) WITHOUT ROWID;
CREATE TABLE overhead (process INTEGER PRIMARY KEY, ratio REAL, low REAL, high REAL,
  duty REAL NOT NULL, switching REAL NOT NULL, windows INTEGER NOT NULL, why_not TEXT NOT NULL);
CREATE TABLE loss (process INTEGER NOT NULL, time_ns INTEGER NOT NULL, what TEXT NOT NULL,
  count INTEGER NOT NULL);
CREATE TABLE note (time_ns INTEGER NOT NULL, severity TEXT NOT NULL, text TEXT NOT NULL);
)";

}  // namespace

std::string cause_columns() {
  std::string columns;
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    if (i > 0) columns += ", ";
    columns += column_of(static_cast<model::Cause>(i));
  }
  return columns;
}

std::string schema_sql() {
  std::string step =
      "CREATE TABLE step (process INTEGER NOT NULL, device INTEGER NOT NULL, "
      "first INTEGER NOT NULL, count INTEGER NOT NULL, start_ns INTEGER NOT NULL, "
      "end_ns INTEGER NOT NULL, longest_ns INTEGER NOT NULL, samples INTEGER, "
      "input_wait_ns INTEGER NOT NULL, captured INTEGER NOT NULL";
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    step += ", " + column_of(static_cast<model::Cause>(i)) + " INTEGER";
  }
  step += ");\n";
  return std::string(kTables) + step + "PRAGMA application_id = " + std::to_string(kApplicationId) +
         ";\nPRAGMA user_version = " + std::to_string(kSchemaVersion) + ";\n";
}

}  // namespace pyrometer::recording
