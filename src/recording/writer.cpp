#include "recording/writer.h"

#include <array>
#include <utility>

#include "recording/checkpointer.h"
#include "recording/database.h"
#include "recording/schema.h"

namespace pyrometer::recording {
namespace {

constexpr std::size_t kStatements = 23;

enum Sql : std::size_t {
  kMeta,
  kName,
  kProcess,
  kDevice,
  kInfo,
  kCapture,
  kConfig,
  kStep,
  kWindow,
  kActivity,
  kApiCall,
  kRange,
  kCounter,
  kRegion,
  kHostLine,
  kBlockingLine,
  kOverhead,
  kLoss,
  kNote,
  kMetric,
  kSample,
  kTakeBackStep,
  kTrialStep,
};

std::string step_insert() {
  std::string sql =
      "INSERT INTO step (process, device, first, count, start_ns, end_ns, longest_ns, samples, "
      "input_wait_ns, captured, " +
      cause_columns() + ") VALUES (?,?,?,?,?,?,?,?,?,?";
  for (std::size_t i = 0; i < model::kCauseCount; ++i) sql += ",?";
  return sql + ")";
}

std::array<std::string, kStatements> statement_texts() {
  return {
      "INSERT OR REPLACE INTO meta VALUES (?,?)",
      "INSERT INTO name VALUES (?,?)",
      "INSERT OR REPLACE INTO process VALUES (?,?,?,?,?,?,?,?,?,?)",
      "INSERT OR REPLACE INTO device VALUES (?,?,?,?,?,?,?,?)",
      "INSERT INTO info VALUES (?,?,?,?)",
      "INSERT INTO capture VALUES (?,?,?,?)",
      "INSERT INTO kernel_config VALUES (?,?,?,?,?,?,?,?,?,?)",
      step_insert(),
      "INSERT INTO kept_window VALUES (?,?,?,?)",
      "INSERT INTO activity VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
      "INSERT INTO api_call VALUES (?,?,?,?,?,?,?)",
      "INSERT INTO host_range VALUES (?,?,?,?,?,?,?,?,?)",
      "INSERT INTO counter VALUES (?,?,?,?)",
      "INSERT OR REPLACE INTO region_total VALUES (?,?,?,?,?,?)",
      "INSERT OR REPLACE INTO host_line VALUES (?,?,?)",
      "INSERT OR REPLACE INTO blocking_line VALUES (?,?,?,?,?)",
      "INSERT OR REPLACE INTO overhead VALUES (?,?,?,?,?,?,?,?)",
      "INSERT INTO loss VALUES (?,?,?,?)",
      "INSERT INTO note VALUES (?,?,?)",
      "INSERT INTO metric VALUES (?,?,?,?)",
      "INSERT INTO sample VALUES (?,?,?)",
      "DELETE FROM step WHERE rowid = ?",
      "INSERT INTO trial_step VALUES (?,?,?,?,?,?,?)",
  };
}

void bind_known(Statement& statement, std::int64_t value) {
  if (value < 0) {
    statement.bind_null();
  } else {
    statement.bind(value);
  }
}

}  // namespace

struct Writer::Statements {
  explicit Statements(Database&& opened) : database(std::move(opened)) {}
  Database database;
  std::array<Statement, kStatements> all;
  Statement missing;
};

Writer::Writer(std::unique_ptr<Statements> statements) : sql_(std::move(statements)) {}
Writer::~Writer() = default;

base::Result<std::unique_ptr<Writer>> Writer::create(const std::string& path) {
  auto database = Database::open(path, OpenMode::kCreate);
  if (!database) return base::fail(database.error());
  auto sql = std::make_unique<Statements>(std::move(*database));
  // WAL: readers may look on, and a kill at any instant leaves the last commit. NORMAL syncs at
  // checkpoints only, which the Checkpointer makes: what a power cut may take is the last seconds,
  // never the file.
  const bool made = sql->database.execute(
                        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
                        "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -2000;") &&
                    sql->database.execute(schema_sql().c_str());
  if (!made) return base::fail(sql->database.last_error("cannot set up the recording"));
  const auto texts = statement_texts();
  for (std::size_t i = 0; i < kStatements; ++i) {
    auto statement = sql->database.prepare(texts[i]);
    if (!statement) return base::fail(statement.error());
    sql->all[i] = std::move(*statement);
  }
  auto missing = sql->database.prepare("INSERT INTO missing VALUES (?,?,?)");
  if (!missing) return base::fail(missing.error());
  sql->missing = std::move(*missing);
  return std::unique_ptr<Writer>(new Writer(std::move(sql)));
}

const std::string& Writer::path() const { return sql_->database.path(); }

bool Writer::ready() {
  if (failed_) return false;
  if (!in_transaction_) {
    check(sql_->database.execute("BEGIN"), "cannot begin a transaction");
    in_transaction_ = !failed_;
  }
  return !failed_;
}

void Writer::check(bool ok, std::string_view doing) {
  ++rows_;
  if (ok || failed_) return;
  failed_ = true;
  error_ = sql_->database.last_error(doing);
}

void Writer::write_new_names() {
  Statement& s = sql_->all[kName];
  for (; names_written_ < names_.size() && !failed_; ++names_written_) {
    const auto id = static_cast<NameId>(names_written_);
    check(s.bind(std::int64_t{id}).bind(names_.text(id)).run(), "cannot write a name");
  }
}

void Writer::set_meta(std::string_view key, std::string_view value) {
  if (ready()) check(sql_->all[kMeta].bind(key).bind(value).run(), "cannot write");
}

void Writer::put_process(const ProcessRow& p) {
  if (!ready()) return;
  Statement& s = sql_->all[kProcess];
  s.bind(p.id).bind(std::int64_t{p.pid}).bind(std::int64_t{p.parent_pid}).bind(p.start);
  if (p.end == 0) {
    s.bind_null();
  } else {
    s.bind(p.end);
  }
  bind_known(s, p.rank);
  bind_known(s, p.world_size);
  bind_known(s, p.local_rank);
  check(s.bind(p.program).bind(p.capture).run(), "cannot write a process");
}

void Writer::put_device(std::int64_t process, const DeviceRow& d) {
  if (!ready()) return;
  Statement& s = sql_->all[kDevice];
  s.bind(process).bind(std::int64_t{d.ordinal}).bind(d.name).bind(d.uuid);
  bind_known(s, d.total_memory_bytes);
  bind_known(s, d.compute_major);
  bind_known(s, d.compute_minor);
  bind_known(s, d.multiprocessors);
  check(s.run(), "cannot write a device");
}

void Writer::add_info(std::int64_t process, std::int64_t time, std::string_view key,
                      std::string_view value) {
  if (!ready()) return;
  check(sql_->all[kInfo].bind(process).bind(time).bind(key).bind(value).run(), "cannot write");
}

void Writer::add_capture(std::int64_t process, std::int64_t time, bool on,
                         std::string_view reason) {
  if (!ready()) return;
  Statement& s = sql_->all[kCapture];
  check(s.bind(process).bind(time).bind(std::int64_t{on}).bind(reason).run(), "cannot write");
}

void Writer::add_config(std::uint32_t id, const ConfigRow& c) {
  if (!ready()) return;
  Statement& s = sql_->all[kConfig];
  s.bind(std::int64_t{id});
  for (const std::uint32_t value : c.grid) s.bind(std::int64_t{value});
  for (const std::uint32_t value : c.block) s.bind(std::int64_t{value});
  s.bind(std::int64_t{c.static_shared_bytes}).bind(std::int64_t{c.dynamic_shared_bytes});
  bind_known(s, c.registers_per_thread);
  check(s.run(), "cannot write a launch configuration");
}

void Writer::add_step(std::int64_t process, const model::RecordedStep& step) {
  if (!ready()) return;
  Statement& s = sql_->all[kStep];
  s.bind(process).bind(std::int64_t{step.device}).bind(step.index).bind(step.count);
  s.bind(step.span.start).bind(step.span.end).bind(step.longest);
  bind_known(s, step.samples);
  s.bind(step.input_wait).bind(std::int64_t{step.captured});
  for (const model::DurationNs time : step.causes) {
    if (step.captured) {
      s.bind(time);
    } else {
      s.bind_null();  // missing is not zero
    }
  }
  check(s.run(), "cannot write a step");
}

void Writer::put_unfinished_steps(std::int64_t process,
                                  const std::vector<model::RecordedStep>& steps) {
  std::vector<std::int64_t>& rows = unfinished_[process];
  if ((rows.empty() && steps.empty()) || !ready()) return;
  for (const std::int64_t row : rows) {
    check(sql_->all[kTakeBackStep].bind(row).run(), "cannot write a step");
  }
  rows.clear();
  for (const model::RecordedStep& step : steps) {
    add_step(process, step);
    rows.push_back(sql_->database.last_row_id());
  }
}

void Writer::add_window(std::int64_t process, const KeptWindow& window, const DetailRows& rows) {
  if (!ready()) return;
  write_new_names();
  Statement& w = sql_->all[kWindow];
  check(w.bind(process).bind(window.span.start).bind(window.span.end).bind(window.why).run(),
        "cannot write a window");
  Statement& a = sql_->all[kActivity];
  for (const ActivityRow& row : rows.activities) {
    if (failed_) return;
    a.bind(process).bind(std::int64_t{static_cast<std::uint8_t>(row.type)});
    a.bind(row.start).bind(row.end).bind(std::int64_t{row.name}).bind(std::int64_t{row.device});
    a.bind(std::int64_t{row.stream}).bind(std::int64_t{row.correlation});
    a.bind(std::int64_t{row.config}).bind(static_cast<std::int64_t>(row.bytes));
    a.bind(std::int64_t{row.copy_kind}).bind(std::int64_t{row.memory_kinds});
    check(a.bind(std::int64_t{row.graph}).run(), "cannot write GPU activities");
  }
  Statement& c = sql_->all[kApiCall];
  for (const ApiCallRow& row : rows.api_calls) {
    if (failed_) return;
    c.bind(process).bind(row.start).bind(row.end).bind(std::int64_t{row.name});
    c.bind(std::int64_t{row.thread}).bind(std::int64_t{row.correlation});
    check(c.bind(std::int64_t{row.result}).run(), "cannot write CUDA calls");
  }
  for (const RangeRow& row : rows.ranges) add_range(process, row);
}

void Writer::add_range(std::int64_t process, const RangeRow& row) {
  if (!ready()) return;
  write_new_names();
  Statement& s = sql_->all[kRange];
  s.bind(process).bind(std::string_view(range_type_name(row.type)));
  s.bind(row.start).bind(row.end).bind(std::int64_t{row.name}).bind(std::int64_t{row.thread});
  s.bind(row.a).bind(row.b);
  check(s.bind(std::int64_t{row.flags}).run(), "cannot write a host range");
}

void Writer::add_trial_step(std::int64_t process, const RangeRow& row) {
  if (!ready()) return;
  Statement& s = sql_->all[kTrialStep];
  s.bind(process).bind(row.a).bind(row.start).bind(row.end).bind(names_.text(row.name));
  bind_known(s, row.b);
  check(s.bind(std::int64_t{row.flags}).run(), "cannot write a step of a trial");
}

void Writer::add_counter(std::int64_t process, NameId name, std::int64_t time, double value) {
  if (!ready()) return;
  write_new_names();
  Statement& s = sql_->all[kCounter];
  check(s.bind(process).bind(std::int64_t{name}).bind(time).bind(value).run(), "cannot write");
}

void Writer::put_region_total(std::int64_t process, const model::RegionTotal& r) {
  if (!ready()) return;
  Statement& s = sql_->all[kRegion];
  s.bind(process).bind(r.kind).bind(r.count).bind(r.total).bind(r.longest);
  check(s.bind(r.amount).run(), "cannot write");
}

void Writer::put_host_line(std::int64_t process, NameId name, std::int64_t samples) {
  if (!ready()) return;
  write_new_names();
  check(sql_->all[kHostLine].bind(process).bind(std::int64_t{name}).bind(samples).run(),
        "cannot write");
}

void Writer::put_blocking_line(std::int64_t process, NameId name, std::int64_t count,
                               std::int64_t total_ns, std::int64_t longest_ns) {
  if (!ready()) return;
  write_new_names();
  Statement& s = sql_->all[kBlockingLine];
  s.bind(process).bind(std::int64_t{name}).bind(count);
  check(s.bind(total_ns).bind(longest_ns).run(), "cannot write");
}

void Writer::put_overhead(std::int64_t process, const model::OverheadEstimate& o) {
  if (!ready()) return;
  Statement& s = sql_->all[kOverhead];
  s.bind(process);
  for (const double value : {o.ratio, o.low, o.high}) {
    if (o.measured) {
      s.bind(value);
    } else {
      s.bind_null();
    }
  }
  check(s.bind(o.duty).bind(o.switching).bind(o.windows).bind(o.why_not).run(), "cannot write");
}

void Writer::add_loss(std::int64_t process, std::int64_t time, std::string_view what,
                      std::int64_t count) {
  if (!ready()) return;
  check(sql_->all[kLoss].bind(process).bind(time).bind(what).bind(count).run(), "cannot write");
}

void Writer::add_note(std::int64_t time, std::string_view severity, std::string_view text) {
  if (!ready()) return;
  check(sql_->all[kNote].bind(time).bind(severity).bind(text).run(), "cannot write");
}

std::int64_t Writer::add_metric(std::string_view name, std::string_view unit,
                                std::string_view object) {
  if (!ready()) return 0;
  Statement& s = sql_->all[kMetric];
  check(s.bind(++metrics_).bind(name).bind(unit).bind(object).run(), "cannot write a metric");
  return metrics_;
}

void Writer::add_sample(std::int64_t metric, std::int64_t time, double value) {
  if (!ready()) return;
  check(sql_->all[kSample].bind(metric).bind(time).bind(value).run(), "cannot write a sample");
}

void Writer::add_missing(std::int64_t metric, std::int64_t time, std::string_view reason) {
  if (!ready()) return;
  check(sql_->missing.bind(metric).bind(time).bind(reason).run(), "cannot write");
}

void Writer::commit() {
  if (!in_transaction_ || failed_) return;
  check(sql_->database.execute("COMMIT"), "cannot write the recording");
  in_transaction_ = false;
  // Short runs need no thread.
  constexpr int kLongRun = 20;
  if (++commits_ == kLongRun) {
    checkpointer_ = std::make_unique<Checkpointer>(path());
    checkpointer_->start();
  }
}

void Writer::finish() {
  commit();
  checkpointer_.reset();
  for (Statement& statement : sql_->all) statement = Statement();
  sql_->missing = Statement();
  // One file, readable from read-only media. Best effort: with a reader attached the log stays.
  if (!failed_) {
    (void)sql_->database.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE;");
  }
  failed_ = true;  // nothing more is taken
}

}  // namespace pyrometer::recording
