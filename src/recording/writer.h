// Writes a .pyro file. The only writer of the format.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/run.h"
#include "recording/names.h"
#include "recording/rows.h"

namespace pyrometer::recording {

// Everything goes into one open transaction; commit() makes it visible to readers and safe against
// a kill. After a failed write the writer takes no more (the disk is full, say): error() says why,
// and what was committed before stays readable. One thread.
class Checkpointer;

class Writer {
 public:
  // A new file, mode 0600; an error where one exists.
  [[nodiscard]] static base::Result<std::unique_ptr<Writer>> create(const std::string& path);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void set_meta(std::string_view key, std::string_view value);  // replaces
  void put_process(const ProcessRow& process);                  // replaces the row of that id
  void put_device(std::int64_t process, const DeviceRow& device);
  void add_info(std::int64_t process, std::int64_t time, std::string_view key,
                std::string_view value);
  void add_capture(std::int64_t process, std::int64_t time, bool on, std::string_view reason);
  void add_config(std::uint32_t id, const ConfigRow& config);
  void add_step(std::int64_t process, const model::RecordedStep& step);
  // Steps that are over but not finished with: rows that the next call for this process takes back.
  // A kill then costs their waterfalls, not the steps.
  void put_unfinished_steps(std::int64_t process, const std::vector<model::RecordedStep>& steps);
  // Detail rows with the window they belong to.
  void add_window(std::int64_t process, const KeptWindow& window, const DetailRows& rows);
  void add_range(std::int64_t process, const RangeRow& range);
  // A step of a trial: `name` is its variant, `a` its index, `b` its samples.
  void add_trial_step(std::int64_t process, const RangeRow& step);
  void add_counter(std::int64_t process, NameId name, std::int64_t time, double value);
  void put_region_total(std::int64_t process, const model::RegionTotal& total);
  void put_host_line(std::int64_t process, NameId name, std::int64_t samples);
  // `name`: "item train.py:58".
  void put_blocking_line(std::int64_t process, NameId name, std::int64_t count,
                         std::int64_t total_ns, std::int64_t longest_ns);
  void put_overhead(std::int64_t process, const model::OverheadEstimate& overhead);
  void add_loss(std::int64_t process, std::int64_t time, std::string_view what, std::int64_t count);
  void add_note(std::int64_t time, std::string_view severity, std::string_view text);
  // A metric gets an id once; then samples, or the reason why there is none.
  [[nodiscard]] std::int64_t add_metric(std::string_view name, std::string_view unit,
                                        std::string_view object);
  void add_sample(std::int64_t metric, std::int64_t time, double value);
  void add_missing(std::int64_t metric, std::int64_t time, std::string_view reason);

  // Names of the whole recording; new ones are written with the rows that use them.
  [[nodiscard]] NameTable& names() { return names_; }

  void commit();
  // Commits, folds the write-ahead log into the file, closes it. The writer takes no more.
  void finish();

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const base::Error& error() const { return error_; }
  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] std::int64_t rows_written() const { return rows_; }

 private:
  struct Statements;
  explicit Writer(std::unique_ptr<Statements> statements);
  [[nodiscard]] bool ready();
  void check(bool ok, std::string_view doing);
  void write_new_names();

  std::unique_ptr<Statements> sql_;
  NameTable names_;
  std::size_t names_written_ = 1;  // "" needs no row
  std::int64_t rows_ = 0;
  std::int64_t metrics_ = 0;
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> unfinished_;  // row ids, by process
  bool in_transaction_ = false;
  int commits_ = 0;
  std::unique_ptr<Checkpointer> checkpointer_;
  bool failed_ = false;
  base::Error error_;
};

}  // namespace pyrometer::recording
