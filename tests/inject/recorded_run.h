// Runs gpu_program under the injected library and reads its rings meanwhile, as the monitor does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/ring_records.h"

namespace pyrometer::tests {

struct RunOptions {
  std::string gpu = "gpu13";  // folder of fake libraries: stub_libraries.cmake
  std::string stub_options;
  std::map<std::string, std::string> environment = {};
  bool inject = true;                  // CUDA_INJECTION64_PATH is set
  std::uint64_t file_limit_bytes = 0;  // RLIMIT_FSIZE; 0: none
};

// A line of the simulated GPU's log.
struct Truth {
  std::string type;  // "kernel", "copy", "memset", "call"
  std::string name;
  std::uint32_t correlation;
  std::uint32_t stream_or_thread;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t bytes;
  std::uint32_t pid;
  auto operator<=>(const Truth&) const = default;
};
void PrintTo(const Truth& truth, std::ostream* out);

struct RingSeen {
  explicit RingSeen(ring::Reader opened) : reader(std::move(opened)) {}
  ring::Reader reader;
  RecordLog log;
};

class RecordedRun {
 public:
  explicit RecordedRun(RunOptions options = {});
  ~RecordedRun();
  RecordedRun(const RecordedRun&) = delete;
  RecordedRun& operator=(const RecordedRun&) = delete;

  // Starts a program; several may run. Returns its pid.
  pid_t start(const std::string& script);
  // Opens new rings (and unlinks them), beats, reads.
  void poll();
  // Polls until the program has ended, or for `limit_ms`: then it is killed and -1 returned.
  // Otherwise its wait status. Reads what is left.
  int finish(pid_t pid, int limit_ms = 30'000);
  // start and finish.
  int run(const std::string& script) { return finish(start(script)); }
  // Waits for the program's end without reading.
  int wait_unread(pid_t pid);
  // Polls until `done`; false after ten seconds.
  template <typename Done>
  bool poll_until(Done done) {
    for (int i = 0; i < 10'000; ++i) {
      poll();
      if (done()) {
        return true;
      }
      pause();
    }
    return false;
  }

  // Of the process `pid`, oldest first.
  std::vector<RingSeen*> rings(pid_t pid);
  // The one ring of that process; fails where there is not exactly one.
  RingSeen& ring(pid_t pid);
  std::size_t ring_count() const { return rings_.size(); }

  // What happened, in all processes, in order of time; `type` empty: all types.
  [[nodiscard]] std::vector<Truth> truth(pid_t pid, const std::string& type = "") const;
  // What the programs wrote to stdout and stderr.
  [[nodiscard]] std::string output() const;

  [[nodiscard]] const std::string& session() const { return folder_.path(); }
  [[nodiscard]] std::string scratch(const std::string& name) const { return scratch_ + name; }
  void set_beating(bool beating) { beating_ = beating; }

  static std::string library();

 private:
  static void pause();
  void child(const std::string& script);

  RunOptions options_;
  RingFolder folder_;
  std::string scratch_;  // prefix of files
  std::vector<std::unique_ptr<RingSeen>> rings_;
  std::vector<pid_t> running_;
  bool beating_ = true;
};

// A ring's records in the form of the log, sorted; for all types that the log has.
std::vector<Truth> as_truth(const RecordLog& log, pid_t pid);

}  // namespace pyrometer::tests
