#include "tests/support/trace_text.h"

#include <fmt/format.h>

namespace pyrometer::testing {

std::string op_event(const std::string& name, const std::string& time,
                     const std::string& duration) {
  return fmt::format(
      R"json(  {{
    "ph": "X", "cat": "cpu_op", "name": "{}", "pid": 10, "tid": 11,
    "ts": {}, "dur": {},
    "args": {{
      "External id": 1,"Record function id": 0, "Concrete Inputs": ["", "[2, 3]", "inf"], "Input type": ["float", "float"], "Input Strides": [[3, 1], [2]], "Input Dims": [[2, 3], [3]], "Ev Idx": 4
    }}
  }})json",
      name, time, duration);
}

std::string kernel_event(const std::string& name, const std::string& time,
                         const std::string& duration, int correlation, const std::string& more) {
  return fmt::format(
      R"json(  {{
    "ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7,
    "ts": {}, "dur": {},
    "args": {{
      "External id": 9, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {}, "registers per thread": 32, "shared memory": 16, "blocks per SM": 0.5, "warps per SM": 2.0, "grid": [3, 2, 1], "block": [128, 1, 1], "est. achieved occupancy %": 31{}
    }}
  }})json",
      name, time, duration, correlation, more);
}

std::vector<std::string> sample_events(int rounds) {
  std::vector<std::string> events;
  for (int n = 0; n < rounds; ++n) {
    const auto at = [n](double offset) { return fmt::format("{:.3f}", 1000.0 * (n + 1) + offset); };
    const int id = 100 + 10 * n;
    events.push_back(op_event("aten::mm", at(0.001), "200.5"));
    events.push_back(op_event("aten::add_", at(10.25), "50"));
    const auto api = [&](const char* name, double time, const char* duration, int correlation) {
      events.push_back(fmt::format(
          R"json({{"ph": "X", "cat": "cuda_runtime", "name": "{}", "pid": 10, "tid": 11, "ts": {}, "dur": {}, "args": {{"External id": 9, "cbid": 211, "correlation": {}}}}})json",
          name, at(time), duration, correlation));
    };
    api("cudaLaunchKernel", 20, "9.125", id);
    events.push_back(fmt::format(
        R"json({{"ph": "s", "id": {}, "pid": 10, "tid": 11, "ts": {}, "cat": "ac2g", "name": "ac2g"}})json",
        id, at(20)));
    events.push_back(kernel_event(n % 3 == 0 ? "gemm<{lambda()#1}, {x}>" : "elementwise", at(40),
                                  "100.017", id));
    events.push_back(fmt::format(
        R"json({{"ph": "f", "id": {}, "pid": 0, "tid": 7, "ts": {}, "cat": "ac2g", "name": "ac2g", "bp": "e"}})json",
        id, at(40)));
    api("cudaMemcpyAsync", 60, "30", id + 1);
    events.push_back(fmt::format(
        R"json({{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 7, "ts": {}, "dur": 12.5, "args": {{"device": 0, "context": 1, "stream": 7, "correlation": {}, "bytes": 4096, "memory bandwidth (GB/s)": 0.3}}}})json",
        at(150), id + 1));
    events.push_back(fmt::format(
        R"json({{"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": {}, "dur": 1, "args": {{"device": 0, "stream": 7, "correlation": {}, "bytes": 16}}}})json",
        at(170), id + 2));
    events.push_back(kernel_event(
        "ncclDevKernel_AllReduce", at(200), "55", id + 3,
        fmt::format(
            R"json(, "Collective name": "allreduce", "In msg nelems": 64, "Out msg nelems": 64, "Group size": 2, "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Seq": {})json",
            n)));
    events.push_back(fmt::format(
        R"json({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{}", "pid": 10, "tid": 10, "ts": {}, "dur": 990.001, "args": {{"External id": 1}}}})json",
        n, at(0)));
    events.push_back(fmt::format(
        R"json({{"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#{}", "pid": 0, "tid": 7, "ts": {}, "dur": 400}})json",
        n, at(40)));
    events.push_back(fmt::format(
        R"json({{"ph": "X", "cat": "python_function", "name": "train.py({}): step", "pid": 10, "tid": 10, "ts": {}, "dur": 700, "args": {{"Python id": 3, "Python parent id": null}}}})json",
        n % 5, at(1)));
    events.push_back(fmt::format(
        R"json({{"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 7, "ts": {}, "dur": 9, "args": {{"stream": 7, "correlation": {}, "device": 0}}}})json",
        at(300), id + 4));
    events.push_back(fmt::format(
        R"json({{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 10, "tid": 11, "ts": {}, "args": {{"Total Reserved": 2048, "Total Allocated": 1024, "Bytes": {}, "Addr": 18446744073709551000, "Device Id": 0, "Device Type": 1, "Ev Idx": 8}}}})json",
        at(15), n % 2 == 0 ? 512 : -512));
    events.push_back(fmt::format(
        R"json({{"ph": "X", "cat": "overhead", "name": "Command Buffer Full", "pid": -1, "tid": 0, "ts": {}, "dur": 3.5}})json",
        at(22)));
  }
  events.push_back(
      R"json({"name": "thread_name", "ph": "M", "ts": 900.0, "pid": 10, "tid": 11, "args": {"name": "thread 11 (autograd)"}})json");
  events.push_back(
      R"json({"ph": "X", "cat": "Trace", "ts": 950.5, "dur": 90000, "pid": "Spans", "tid": "PyTorch Profiler", "name": "PyTorch Profiler (0)", "args": {"Op count": 0}})json");
  events.push_back(
      R"json({"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 99999.5})json");
  return events;
}

std::string trace_of(const std::vector<std::string>& events, const std::string& header,
                     const std::string& trailer) {
  std::string text = "{\n  \"schemaVersion\": 1,\n";
  if (!header.empty()) text += "  " + header + ",\n";
  text += "  \"traceEvents\": [\n";
  for (std::size_t i = 0; i < events.size(); ++i) {
    text += events[i];
    text += i + 1 < events.size() ? ",\n" : "\n";
  }
  text += "  ]";
  if (!trailer.empty()) text += ",\n  " + trailer;
  return text + "\n}\n";
}

}  // namespace pyrometer::testing
