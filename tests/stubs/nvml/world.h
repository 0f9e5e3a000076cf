// A simulated machine with NVIDIA GPUs, described by a script.
//
// One statement a line, `#` begins a comment:
//   gpus 2                        how many (first statement)
//   gpu1.util 87                  what a call of GPU 1 answers; `gpu*.util` for all
//   gpu0.power na                 … NVML_ERROR_NOT_SUPPORTED
//   gpu0.power error 4            … this code
//   gpu0.power untouched          … success, and nothing written
//   gpu0.power garbage            … success, and nonsense written
//   gpu0.cuda_uuid 1              has the UUID of the simulated CUDA's device 1
//   gpu0 lost / gpu0 back         falls off the bus, and answers again
//   gpu0 process 4242 compute 2048 60       pid, kind, MiB (or na), SM utilisation (or na)
//   gpu0 no-processes
//   gpu0 mig 7 0 18432            an instance: GPU and compute instance ids, MiB
//   gpu0 xid 79                   an event to be taken once
//   init 18                       what nvmlInit says; `count 999` likewise
//   uninitialized                 the driver is reloaded: all calls say so until the next nvmlInit
//   gpu0.set_power_limit error 4  … this process may not set power limits. What is set is appended
//                                 to the script: it stays beyond the process
//   hide nvmlDeviceGetFieldValues         the library lacks the function
//   hang nvmlDeviceGetPowerUsage          the call does not return until the world lets go
//   process-entry 32              size of an entry of the process lists (24; 32 on some R535)
//   at 2.5 STATEMENT              takes effect 2.5 s after the first nvmlInit
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace nvml_stub {

enum class AnswerKind : std::uint8_t { kValue, kError, kUntouched, kGarbage };
struct Answer {
  AnswerKind kind = AnswerKind::kValue;
  double value = 0;
  int code = 0;
};

struct Process {
  unsigned pid = 0;
  bool computes = true;
  std::optional<double> mib;
  std::optional<unsigned> util;
};

struct Mig {
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
  double mib = 0;
};

struct Gpu {
  std::map<std::string, Answer, std::less<>> answers;
  bool lost = false;
  std::vector<Process> processes;
  std::vector<Mig> instances;
  std::vector<unsigned> xids;
  bool registered = false;  // for events
};

struct World {
  World();
  // Replaces everything by a script. False, with the line, where one is not understood.
  bool load(std::string_view script, std::string* problem = nullptr);
  bool run(std::string_view statement);
  // Takes what is due by now. Call with the mutex held.
  void advance();

  std::mutex mutex;  // held by every call of the stub
  std::condition_variable let_go;
  std::vector<Gpu> gpus;
  std::map<std::string, int, std::less<>> calls;  // by symbol
  std::set<std::string, std::less<>> hidden;
  std::set<std::string, std::less<>> hanging;
  int init_code = 0;
  int count_code = 0;
  bool initialized = false;
  int open_handles = 0;  // GPM samples and event sets that were not given back
  std::size_t process_entry = 24;
  std::function<double()> clock;  // seconds; tests replace it
  double started = -1;
  std::multimap<double, std::string> later;
};

// The one that the functions act on.
World& world();
// Address of a function by its symbol, null where the world hides it.
void* resolve(const char* symbol);

}  // namespace nvml_stub
