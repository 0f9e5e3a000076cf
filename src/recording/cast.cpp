#include "recording/cast.h"

#include <charconv>
#include <string_view>

#include "recording/clipped.h"
#include "recording/open_recording.h"

namespace pyrometer::recording {
namespace {

using base::Result;

// "gpu 0 process 4242": 4242; -1 where it is none.
std::int32_t pid_in(std::string_view object) {
  constexpr std::string_view kWord = " process ";
  const std::size_t at = object.rfind(kWord);
  if (at == std::string_view::npos) return -1;
  object.remove_prefix(at + kWord.size());
  std::int32_t pid = -1;
  const auto end = object.data() + object.size();
  const auto read = std::from_chars(object.data(), end, pid);
  return read.ec == std::errc() && read.ptr == end ? pid : -1;
}

Result<void> read_names(Database& database, Cast& cast) {
  auto rows = database.prepare(
      "SELECT m.object, r.reason FROM missing AS r JOIN metric AS m ON m.id = r.metric "
      "WHERE m.name = 'gpu.process.name' AND r.reason LIKE '= %'");
  if (!rows) return base::fail(rows.error());
  while (rows->step()) {
    const std::int32_t pid = pid_in(rows->text(0));
    if (pid >= 0) cast.processes[pid].program = std::string(rows->text(1).substr(2));
  }
  if (rows->failed()) return base::fail(damaged(database, "missing"));
  return {};
}

// After the names: what is recorded is known better.
Result<void> read_recorded(Database& database, Cast& cast) {
  auto rows = database.prepare("SELECT pid, rank, program FROM process");
  if (!rows) return base::fail(rows.error());
  while (rows->step()) {
    CastMember& member = cast.processes[clipped<std::int32_t>(rows->integer(0))];
    member.is_recorded = true;
    if (!rows->is_null(1)) member.rank = clipped<std::int32_t>(rows->integer(1));
    if (!rows->text(2).empty()) member.program = std::string(rows->text(2));
  }
  if (rows->failed()) return base::fail(damaged(database, "process"));
  return {};
}

}  // namespace

Result<Cast> read_cast(const std::string& path) {
  auto database = open_recording(path);
  if (!database) return base::fail(database.error());
  if (auto plain = expect_plain_tables(*database); !plain) return base::fail(plain.error());
  Cast cast;
  if (auto read = read_names(*database, cast); !read) return base::fail(read.error());
  if (auto read = read_recorded(*database, cast); !read) return base::fail(read.error());
  auto meta = database->prepare(
      "SELECT key, value FROM meta WHERE key IN ('gpu_missing', 'realtime_offset_ns')");
  if (!meta) return base::fail(meta.error());
  while (meta->step()) {
    if (meta->text(0) == "gpu_missing") {
      cast.no_gpu = std::string(meta->text(1));
    } else {
      cast.unix_offset_ns = meta->integer(1);
    }
  }
  if (meta->failed()) return base::fail(damaged(*database, "meta"));
  return cast;
}

}  // namespace pyrometer::recording
