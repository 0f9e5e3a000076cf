#include "recording/metric_reader.h"

#include <utility>

#include "recording/open_recording.h"

namespace pyrometer::recording {

base::Result<MetricReader> MetricReader::open(const std::string& path) {
  auto database = open_recording(path);
  if (!database) return base::fail(database.error());
  if (auto plain = expect_plain_tables(*database); !plain) return base::fail(plain.error());
  auto rows = database->prepare(
      "WITH gpu(id) AS (SELECT id FROM metric WHERE object GLOB 'gpu *') "
      "SELECT m.name, m.object, r.time_ns, r.value, r.reason FROM ("
      "SELECT metric, time_ns, value, NULL AS reason FROM sample "
      "WHERE metric IN (SELECT id FROM gpu) UNION ALL "
      "SELECT metric, time_ns, NULL, reason FROM missing "
      "WHERE metric IN (SELECT id FROM gpu)) AS r "
      "JOIN metric AS m ON m.id = r.metric ORDER BY r.time_ns");
  if (!rows) return base::fail(rows.error());
  return MetricReader(std::move(*database), std::move(*rows));
}

base::Result<bool> MetricReader::next(MetricRow& row) {
  if (!rows_.step()) {
    if (rows_.failed()) return base::fail(damaged(database_, "sample"));
    return false;
  }
  row.metric = std::string(rows_.text(0));
  row.object = std::string(rows_.text(1));
  row.time_ns = rows_.integer(2);
  row.number = rows_.is_null(3) ? std::nullopt : std::optional(rows_.real(3));
  row.text = std::string(rows_.text(4));
  return true;
}

base::Result<void> MetricReader::rewind() {
  rows_.reset();
  return {};
}

}  // namespace pyrometer::recording
