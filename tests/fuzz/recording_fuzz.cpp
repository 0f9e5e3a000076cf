// Fuzz target: recordings that nobody of us wrote. An input is a list of changes to a sound one.
//
// Five bytes or more: a first byte that is even changes bytes of the file (three for the place, one
// for the value, each); an odd one changes values of rows (column, which rows, what kind of value,
// then eight bytes for it: a whole number, a real number or text).
#include <sqlite3.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "analysis/pass.h"
#include "recording/reader.h"
#include "recording/writer.h"

namespace {

using namespace pyrometer;

struct Column {
  std::string table;
  std::string name;
};

std::string file_name() {
  static const std::string name = "/dev/shm/recording_fuzz." + std::to_string(::getpid()) + ".pyro";
  return name;
}

void remove_file() {
  std::error_code error;
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
    std::filesystem::remove(file_name() + ending, error);
  }
}

recording::DetailRows some_rows(recording::Writer& writer) {
  const recording::NameId kernel = writer.names().intern("ampere_sgemm_128x64_tn");
  const recording::NameId launch = writer.names().intern("cudaLaunchKernel");
  recording::DetailRows rows;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::int64_t begin = 1'000'000 + 1000 * std::int64_t{i};
    rows.activities.push_back({.start = begin + 300,
                               .end = begin + 900,
                               .name = kernel,
                               .config = 1,
                               .correlation = i + 1,
                               .stream = 7});
    rows.api_calls.push_back({.start = begin + 100,
                              .end = begin + 150,
                              .name = launch,
                              .thread = 42,
                              .correlation = i + 1});
    rows.ranges.push_back({.start = begin,
                           .end = begin + 1000,
                           .a = i,
                           .b = 32,
                           .thread = 42,
                           .type = recording::RangeType::kStep});
  }
  return rows;
}

std::string sound_recording() {
  remove_file();
  {
    auto writer = recording::Writer::create(file_name());
    if (!writer) return {};
    recording::Writer& w = **writer;
    w.set_meta("start_ns", "0");
    w.set_meta("end_ns", "2000000");
    w.set_meta("program", "python3");
    recording::ProcessRow process;
    process.id = 1;
    process.pid = 42;
    w.put_process(process);
    w.put_device(1, {.ordinal = 0, .name = "NVIDIA H200"});
    w.add_config(1, {});
    const recording::DetailRows rows = some_rows(w);
    w.add_window(1, {{1'000'000, 1'008'000}, "regular"}, rows);
    model::RecordedStep step;
    step.index = 0;
    step.count = 8;
    step.span = {1'000'000, 1'008'000};
    step.longest = 1000;
    step.device = 0;
    step.captured = true;
    step.causes[0] = 4800;
    w.add_step(1, step);
    w.put_region_total(1, {.kind = "checkpoint", .count = 1, .total = 10, .longest = 10});
    w.put_overhead(1, {});
    w.add_note(5, "info", "a note");
    w.add_sample(w.add_metric("gpu.utilization", "%", "gpu 0"), 5, 50);
    w.commit();
    w.finish();
  }
  std::ifstream file(file_name(), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Column> columns_of_file() {
  std::vector<Column> columns;
  sqlite3* database = nullptr;
  sqlite3_open(file_name().c_str(), &database);
  const auto add = [](void* out, int, char** values, char**) {
    static_cast<std::vector<Column>*>(out)->push_back({values[0], values[1]});
    return 0;
  };
  sqlite3_exec(database,
               "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
               "WHERE m.type = 'table'",
               add, &columns, nullptr);
  sqlite3_close(database);
  return columns;
}

void write_file(const std::string& bytes) {
  remove_file();
  std::ofstream file(file_name(), std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void change_bytes(std::string bytes, const std::uint8_t* data, std::size_t size) {
  for (std::size_t i = 0; i + 4 <= size; i += 4) {
    const std::size_t place =
        (std::size_t{data[i]} << 16U | std::size_t{data[i + 1]} << 8U | std::size_t{data[i + 2]}) %
        bytes.size();
    bytes[place] = static_cast<char>(data[i + 3]);
  }
  write_file(bytes);
}

void change_rows(const std::string& sound, const std::vector<Column>& columns,
                 const std::uint8_t* data, std::size_t size) {
  write_file(sound);
  sqlite3* database = nullptr;
  sqlite3_open(file_name().c_str(), &database);
  sqlite3_exec(database, "PRAGMA synchronous = OFF; BEGIN", nullptr, nullptr, nullptr);
  constexpr std::size_t kBytes = 11;
  for (std::size_t i = 0; i + kBytes <= size; i += kBytes) {
    const Column& column = columns[data[i] % columns.size()];
    const std::string sql = "UPDATE OR IGNORE " + column.table + " SET " + column.name + " = ?" +
                            (data[i + 1] % 2 == 0 ? "" : " WHERE " + column.name + " != 0");
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) continue;
    std::int64_t value = 0;
    std::memcpy(&value, data + i + 3, sizeof value);
    double real = 0;
    std::memcpy(&real, &value, sizeof real);
    switch (data[i + 2] % 4) {
      case 0:
        sqlite3_bind_int64(statement, 1, value);
        break;
      case 1:
        sqlite3_bind_double(statement, 1, real);
        break;
      case 2:
        sqlite3_bind_text(statement, 1, reinterpret_cast<const char*>(data + i + 3), 8,
                          SQLITE_TRANSIENT);
        break;
      default:
        sqlite3_bind_int64(statement, 1, value % 1'000'000);
    }
    sqlite3_step(statement);
    sqlite3_finalize(statement);
  }
  sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(database);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string sound = sound_recording();
  static const std::vector<Column> columns = columns_of_file();
  constexpr std::size_t kMost = 256;  // bytes: more changes only make an input slower
  if (size < 5 || size > kMost || sound.empty() || columns.empty()) return 0;
  if (data[0] % 2 == 0) {
    change_bytes(sound, data + 1, size - 1);
  } else {
    change_rows(sound, columns, data + 1, size - 1);
  }
  const auto timeline = recording::read_recording(file_name());
  if (timeline) (void)analysis::run_passes(*timeline, {.threads = 1});
  remove_file();
  return 0;
}
