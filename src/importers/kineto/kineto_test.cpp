// The format, with all that sound traces of any age do.
#include "importers/kineto/kineto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/support/import_text.h"
#include "tests/support/timeline_text.h"
#include "tests/support/trace_text.h"

namespace pyrometer::importers::kineto {
namespace {

using testing::counter_lines;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::import_all;
using testing::import_one;
using ::testing::IsEmpty;
using testing::kernel_event;
using testing::op_event;
using testing::timeline_lines;
using testing::trace_of;

std::vector<std::string> op_names(const model::RankTimeline& t) {
  std::vector<std::string> names;
  for (const model::NameId id : t.host_ops.name) names.emplace_back(t.name(id));
  return names;
}

std::string api_event(const std::string& name, const std::string& time, int correlation,
                      const std::string& category = "cuda_runtime") {
  return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name +
         R"(", "pid": 10, "tid": 11, "ts": )" + time + R"(, "dur": 5, "args": {"correlation": )" +
         std::to_string(correlation) + "}}";
}

TEST(Kineto, ReadsEveryTable) {
  const model::RankTimeline t = import_one(trace_of(testing::sample_events(2)));
  EXPECT_EQ(t.activities.size(), 8U);
  EXPECT_EQ(t.api_calls.size(), 4U);
  EXPECT_EQ(t.host_ops.size(), 4U);
  EXPECT_EQ(t.annotations.size(), 2U);
  EXPECT_EQ(t.python.size(), 2U);
  EXPECT_EQ(t.syncs.size(), 2U);
  EXPECT_EQ(t.memory.size(), 2U);
  EXPECT_EQ(t.profiler_overhead.size(), 2U);
  EXPECT_EQ(t.comm_details.size(), 2U);
  EXPECT_EQ(t.info.event_count, 35);
  EXPECT_THAT(counter_lines(t), IsEmpty());
  const std::vector<std::string> lines = timeline_lines(t);
  EXPECT_THAT(lines, ::testing::Contains(
                         "activity 1040000..1140017 gemm<{lambda()#1}, {x}> device 0 stream 7 kind "
                         "0 copy 0 host 0 node 0 launch 0 detail [3 2 1][128 1 1] 32 16 31 0.5 "
                         "comm -"));
  EXPECT_THAT(lines,
              ::testing::Contains("activity 1150000..1162500 Memcpy HtoD (Pageable -> Device) "
                                  "device 0 stream 7 kind 1 copy 1 host 1 node 0 launch 1 detail "
                                  "4096 comm -"));
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("allreduce group 0 [0, 1] Float in 64 out 64 "
                                                   "seq 1 size 2")));
  EXPECT_THAT(lines, ::testing::Contains(
                         "call 1020000..1029125 cudaLaunchKernel thread 10/11 correlation 100 op 1 "
                         "first 0 x1"));
  EXPECT_THAT(lines, ::testing::Contains("op 1000001..1200501 aten::mm thread 10/11 parent - "
                                         "shapes [[2, 3], [3]] types [\"float\", \"float\"]"));
  EXPECT_THAT(lines, ::testing::Contains("op 1010250..1060250 aten::add_ thread 10/11 parent 0 "
                                         "shapes  types "));
  EXPECT_THAT(lines,
              ::testing::Contains("memory 1015000 +512 allocated 1024 reserved 2048 device 0"));
  EXPECT_THAT(lines, ::testing::Contains("thread 10/11 'thread 11 (autograd)'"));
  EXPECT_THAT(lines, ::testing::Contains("span 950500..90950500"));
}

TEST(Kineto, ReadsTheMetadataBeforeOrAfterTheEvents) {
  const std::string metadata =
      R"("deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320,
      "computeMajor": 9, "computeMinor": 0, "numSms": 132}, {"id": 1, "name": "NVIDIA H200"}],
      "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8,
                          "pg_config": [{"pg_name": "0", "ranks": [0, 1]}]},
      "record_shapes": 1, "with_stack": 0, "cuda_runtime_version": 13000,
      "cuda_driver_version": 13010, "host_name": "node7", "trace_id": "E956",
      "baseTimeNanoseconds": 1790857026000000000)";
  const std::vector<std::string> events = {op_event("aten::mm", "5206689936669.059", "0.5"),
                                           kernel_event("k", "5206689936670.001", "2")};
  const auto before = import_all(trace_of(events, metadata));
  const auto after = import_all(trace_of(events, "", metadata));
  for (const auto* traces : {&before, &after}) {
    ASSERT_TRUE(traces->has_value());
    const model::RankTimeline& t = (*traces)->front().timeline;
    EXPECT_EQ((*traces)->front().claimed_rank, 3);
    EXPECT_EQ(t.info.world_size, 8);
    EXPECT_EQ(t.info.backend, "nccl");
    EXPECT_EQ(t.info.host, "node7");
    EXPECT_EQ(t.info.trace_id, "E956");
    EXPECT_EQ(t.info.record_shapes, true);
    EXPECT_EQ(t.info.with_stack, false);
    EXPECT_EQ(t.info.profile_memory, std::nullopt);
    EXPECT_EQ(t.info.cuda_runtime_version, 13000);
    EXPECT_EQ(t.info.cuda_driver_version, 13010);
    ASSERT_EQ(t.devices.size(), 2U);
    EXPECT_EQ(t.devices[0].name, "NVIDIA H200");
    EXPECT_EQ(t.devices[0].total_memory_bytes, 150109880320);
    EXPECT_EQ(t.devices[0].compute_major, 9);
    EXPECT_EQ(t.devices[0].multiprocessors, 132);
    EXPECT_EQ(t.devices[0].activities.size(), 1U);
    EXPECT_EQ(t.devices[1].multiprocessors, -1);
    // base + ts × 1000, exactly
    EXPECT_EQ(t.host_ops.start[0], 1790857026000000000 + 5206689936669059);
    EXPECT_EQ(t.host_ops.end[0], 1790857026000000000 + 5206689936669559);
  }
}

TEST(Kineto, MissingMetadataStaysMissing) {
  const model::RankTimeline t = import_one(trace_of({kernel_event("k", "1", "2")}, "", ""));
  EXPECT_EQ(t.info.world_size, -1);
  EXPECT_EQ(t.info.cuda_driver_version, -1);
  EXPECT_EQ(t.info.record_shapes, std::nullopt);
  ASSERT_EQ(t.devices.size(), 1U);
  EXPECT_EQ(t.devices[0].name, "");
  EXPECT_EQ(t.devices[0].total_memory_bytes, -1);
}

TEST(Kineto, CpuOnlyAndGpuOnlyTracesAreSound) {
  const model::RankTimeline cpu = import_one(trace_of({op_event("aten::mm", "1", "2")}));
  EXPECT_EQ(cpu.activities.size(), 0U);
  EXPECT_TRUE(cpu.has_host_events());
  const model::RankTimeline gpu = import_one(trace_of({kernel_event("k", "1", "2")}));
  EXPECT_EQ(gpu.activities.size(), 1U);
  EXPECT_FALSE(gpu.has_host_events());
  EXPECT_EQ(gpu.activities.launch[0], model::kNone);
}

TEST(Kineto, BareArrayCompactAndPretty) {
  const auto events = testing::sample_events(3);
  std::string array = "[";
  std::string compact = "{\"traceEvents\":[";
  for (std::size_t i = 0; i < events.size(); ++i) {
    std::string tight;
    bool in_string = false;
    for (const char c : events[i]) {
      if (c == '"') in_string = !in_string;
      if (in_string || (c != ' ' && c != '\n')) tight += c;
    }
    if (i > 0) array += " ,\r\n\t";
    if (i > 0) compact += ',';
    array += events[i];
    compact += tight;
  }
  array += "]";
  compact += "]}";
  const auto want = timeline_lines(import_one(trace_of(events)));
  EXPECT_EQ(timeline_lines(import_one(array)), want);
  // Shapes keep the text they were written with.
  std::vector<std::string> tight_lines = timeline_lines(import_one(compact));
  EXPECT_EQ(tight_lines.size(), want.size());
  EXPECT_THAT(counter_lines(import_one(compact)), IsEmpty());
}

TEST(Kineto, KeysInAnyOrderAndRepeatedByPythonsJson) {
  const model::RankTimeline t = import_one(
      R"({"traceEvents": [{"args": {"stream": 3, "device": 1, "correlation": 7, "grid": [2, 1, 1],
          "block": [4, 1, 1]}, "cat": "kernel", "dur": 2.0, "name": "k", "ph": "X", "pid": 1,
          "tid": 3, "ts": 10.5}, {"args": {"Input Dims": [[4]]}, "cat": "cpu_op", "dur": 1,
          "name": "aten::mm", "ph": "X", "pid": 1, "tid": 1, "ts": 1}]})");
  ASSERT_EQ(t.activities.size(), 1U);
  EXPECT_EQ(t.activities.stream[0], 3);
  EXPECT_EQ(t.devices[t.activities.device[0]].ordinal, 1);
  EXPECT_EQ(t.kernel_configs[t.activities.detail[0]].grid[0], 2U);
  EXPECT_EQ(t.name(t.host_ops.shapes[0]), "[[4]]");
}

TEST(Kineto, SeveralDocumentsInOneFile) {
  const std::string a = trace_of({op_event("aten::a", "1", "2")},
                                 R"("distributedInfo": {"rank": 0}, "baseTimeNanoseconds": 5000)");
  const std::string b =
      trace_of({op_event("aten::b", "1", "2")}, R"("distributedInfo": {"rank": 1})");
  const auto traces = import_all(a + b + "[" + op_event("aten::c", "3", "4") + "]");
  ASSERT_TRUE(traces.has_value());
  ASSERT_EQ(traces->size(), 3U);
  EXPECT_THAT(op_names((*traces)[0].timeline), ElementsAre("aten::a"));
  EXPECT_THAT(op_names((*traces)[1].timeline), ElementsAre("aten::b"));
  EXPECT_THAT(op_names((*traces)[2].timeline), ElementsAre("aten::c"));
  EXPECT_EQ((*traces)[0].claimed_rank, 0);
  EXPECT_EQ((*traces)[1].claimed_rank, 1);
  EXPECT_EQ((*traces)[2].claimed_rank, std::nullopt);
  // The metadata of one document is not that of the next.
  EXPECT_EQ((*traces)[0].timeline.host_ops.start[0], 6000);
  EXPECT_EQ((*traces)[1].timeline.host_ops.start[0], 1000);
  EXPECT_EQ((*traces)[0].timeline.info.json_bytes, static_cast<std::int64_t>(a.size()) - 1);
}

TEST(Kineto, BareInfinityAndNanInArguments) {
  const model::RankTimeline t = import_one(trace_of({
      kernel_event("k", "1", "2", 0, R"(, "x": inf, "y": -inf, "z": NaN, "blocks per SM": nan)"),
      op_event("aten::mm", "5", "6"),
  }));
  ASSERT_EQ(t.activities.size(), 1U);
  EXPECT_EQ(t.kernel_configs[0].registers_per_thread, 32);
  EXPECT_EQ(t.host_ops.size(), 1U);
}

TEST(Kineto, EscapesAreUndone) {
  const model::RankTimeline t = import_one(
      trace_of({op_event(R"(a\"b\\c\/d\u00e9\ud83d\ude00\ud800x\n\u001b[31m)", "1", "2")}));
  EXPECT_THAT(op_names(t), ElementsAre("a\"b\\c/d\xC3\xA9\xF0\x9F\x98\x80"
                                       "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx  [31m"));
}

TEST(Kineto, NumbersAsStringsAndStringIds) {
  const model::RankTimeline t = import_one(
      R"({"traceEvents": [
      {"ph": "X", "cat": "Operator", "name": "a", "pid": "119771", "tid": "1890023232", "ts": 1, "dur": 4},
      {"ph": "X", "cat": "Operator", "name": "b", "pid": 119771, "tid": 1890023232, "ts": 2, "dur": 1},
      {"ph": "X", "cat": "Operator", "name": "c", "pid": "python [3]", "tid": "main", "ts": "3.5", "dur": "1"},
      {"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 2, "dur": 3, "args": {"device": "2", "correlation": "9"}},
      {"ph": "X", "cat": "Kernel", "name": "k2", "pid": 1, "tid": "stream 3", "ts": 2, "dur": 3, "args": {}}]
})");
  ASSERT_EQ(t.threads.size(), 2U);
  EXPECT_EQ(t.host_ops.size(), 3U);
  EXPECT_EQ(t.threads[0].tid, "python [3] main");
  EXPECT_EQ(t.host_ops.start[0], 3500);
  EXPECT_EQ(t.threads[1].pid, 119771);
  EXPECT_EQ(t.threads[1].tid, "1890023232");
  EXPECT_EQ(t.threads[1].host_ops.size(), 2U);
  ASSERT_EQ(t.activities.size(), 2U);
  EXPECT_EQ(t.devices[t.activities.device[0]].ordinal, 1);
  EXPECT_EQ(t.activities.stream[0], 3);
  EXPECT_EQ(t.devices[t.activities.device[1]].ordinal, 2);
  EXPECT_EQ(t.activities.stream[1], 7);
}

TEST(Kineto, IntegersAbove63Bits) {
  const model::RankTimeline t = import_one(trace_of(
      {kernel_event("k", "1", "2", 5,
                    R"(, "Addr": 18446744073709551615, "bytes": 99999999999999999999999)"),
       R"({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 4,
           "args": {"Addr": 18446744073709551615, "Bytes": 18446744073709551615, "Device Type": 0, "Device Id": -1}})"}));
  EXPECT_EQ(t.activities.size(), 1U);
  ASSERT_EQ(t.memory.size(), 1U);
  EXPECT_EQ(t.memory.bytes[0], INT64_MAX);
  EXPECT_EQ(t.memory.device[0], -1);
  EXPECT_EQ(t.memory.total_allocated[0], -1);
}

TEST(Kineto, AllocatorEventsOfAllVersions) {
  const model::RankTimeline t = import_one(
      R"([{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1, "args": {"Device Type": 1, "Device Id": 2, "Bytes": 512}},
          {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2, "args": {"Device Id": -1, "Bytes": -8}},
          {"args": {"Bytes": 7, "Device Type": 0, "Device Id": 0}, "name": "[memory]", "ph": "i", "ts": 3},
          {"ph": "i", "name": "Record Window End", "ts": 4}])");
  EXPECT_THAT(t.memory.bytes, ElementsAre(512, -8, 7));
  EXPECT_THAT(t.memory.device, ElementsAre(2, -1, -1));
}

TEST(Kineto, ZeroAndNegativeDurations) {
  const model::RankTimeline t =
      import_one(trace_of({kernel_event("zero", "5", "0"), kernel_event("negative", "9", "-3"),
                           kernel_event("short", "12", "0.001")}));
  ASSERT_EQ(t.activities.size(), 3U);
  EXPECT_EQ(t.activities.duration(0), 0);
  EXPECT_EQ(t.activities.duration(1), 0);
  EXPECT_EQ(t.activities.duration(2), 1);
  EXPECT_THAT(counter_lines(t), ElementsAre("negative_duration=1"));
}

TEST(Kineto, OverlapAndStreamZero) {
  const auto on_stream = [](const char* time, int stream) {
    return R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 0, "ts": )" +
           std::string(time) + R"(, "dur": 10, "args": {"device": 0, "stream": )" +
           std::to_string(stream) + "}}";
  };
  const model::RankTimeline t =
      import_one(trace_of({on_stream("1", 0), on_stream("5", 0), on_stream("7", 7)}));
  ASSERT_EQ(t.activities.size(), 3U);
  EXPECT_THAT(t.activities.stream, ElementsAre(0, 0, 7));
}

TEST(Kineto, GraphKernelsShareOneLaunch) {
  const model::RankTimeline t = import_one(
      trace_of({api_event("cudaGraphLaunch", "1", 5),
                kernel_event("a", "10", "1", 5, R"(, "graph id": 3, "graph node id": 8589934593)"),
                kernel_event("b", "12", "1", 5, R"(, "graph id": 3, "graph node id": 2)")}));
  ASSERT_EQ(t.activities.size(), 2U);
  EXPECT_THAT(t.activities.launch, ElementsAre(0, 0));
  EXPECT_THAT(t.api_calls.activity_count, ElementsAre(2));
  EXPECT_THAT(t.activities.graph_node, ElementsAre(1, 2));
}

TEST(Kineto, EveryKindOfLaunchLinks) {
  std::vector<std::string> events;
  int id = 1;
  for (const char* name : {"cudaLaunchKernel", "cudaLaunchKernelExC", "hipLaunchKernel",
                           "hipExtModuleLaunchKernel", "hipModuleLaunchKernel"}) {
    events.push_back(api_event(name, std::to_string(10 * id), id));
    events.push_back(kernel_event("k", std::to_string(10 * id + 2), "1", id));
    ++id;
  }
  for (const char* name : {"cuLaunchKernel", "cuLaunchKernelEx"}) {
    events.push_back(api_event(name, std::to_string(10 * id), id, "cuda_driver"));
    events.push_back(kernel_event("k", std::to_string(10 * id + 2), "1", id));
    ++id;
  }
  const model::RankTimeline t = import_one(trace_of(events));
  ASSERT_EQ(t.activities.size(), 7U);
  for (model::Index i = 0; i < 7; ++i) EXPECT_EQ(t.activities.launch[i], i);
  EXPECT_TRUE(t.info.is_rocm);
}

TEST(Kineto, CopyKinds) {
  const auto copy = [](const char* name, const char* more) {
    return R"({"ph": "X", "cat": "gpu_memcpy", "name": ")" + std::string(name) +
           R"(", "pid": 2, "tid": 0, "ts": 1, "dur": 1, "args": {"device": 2, "stream": 0)" + more +
           "}}";
  };
  const model::RankTimeline t = import_one(trace_of(
      {copy("Memcpy HtoD (Pinned -> Device)", ""), copy("Memcpy DtoH (Device -> Pageable)", ""),
       copy("Memcpy PtoP (Device -> Device)", ""), copy("CopyHostToDevice", R"(, "kind": "HtoD")"),
       copy("copy", "")}));
  std::vector<std::string> seen;
  for (model::Index i = 0; i < t.activities.size(); ++i) {
    seen.push_back(std::string(t.name(t.activities.name[i])) + " " +
                   std::to_string(static_cast<int>(t.activities.copy[i])) + " " +
                   std::to_string(static_cast<int>(t.activities.host_memory[i])));
  }
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre("Memcpy HtoD (Pinned -> Device) 1 2",
                                                    "Memcpy DtoH (Device -> Pageable) 2 1",
                                                    "Memcpy PtoP (Device -> Device) 4 0",
                                                    "CopyHostToDevice 1 0", "copy 6 0"));
}

TEST(Kineto, BeginAndEndEvents) {
  const auto half = [](const char* phase, const char* name, const char* time) {
    return R"({"ph": ")" + std::string(phase) + R"(", "cat": "cpu_op", "name": ")" + name +
           R"(", "pid": 1, "tid": 1, "ts": )" + time + "}";
  };
  // Two nested pairs, two that touch, one end too many, one begin too many.
  const std::vector<std::string> events = {half("B", "outer", "1"), half("B", "inner", "2"),
                                           half("E", "", "3"),      half("E", "outer", "9"),
                                           half("B", "a", "10"),    half("E", "a", "12"),
                                           half("B", "b", "12"),    half("E", "b", "13"),
                                           half("E", "lost", "20"), half("B", "open", "30")};
  const model::RankTimeline t = import_one(trace_of(events));
  EXPECT_THAT(op_names(t), ElementsAre("outer", "inner", "a", "b"));
  EXPECT_EQ(t.host_ops.end[0], 9000);
  EXPECT_EQ(t.host_ops.end[1], 3000);
  EXPECT_EQ(t.host_ops.end[2], 12000);
  EXPECT_THAT(counter_lines(t), ElementsAre("unmatched_begin=1", "unmatched_end=1"));
}

TEST(Kineto, CategoriesOfAllTimes) {
  const auto of = [](const char* category) {
    return R"({"ph": "X", "cat": ")" + std::string(category) +
           R"(", "name": "n", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {"device": 0, "stream": 1}})";
  };
  std::vector<std::string> events;
  for (const char* category :
       {"cpu_op", "Operator", "cuda_runtime", "Runtime", "cuda_driver", "kernel", "Kernel",
        "gpu_memcpy", "Memcpy", "gpu_memset", "Memset", "user_annotation", "python_function",
        "overhead", "cuda_sync", "gpu_user_annotation", "martian", "Trace"}) {
    events.push_back(of(category));
  }
  const model::RankTimeline t = import_one(trace_of(events));
  EXPECT_EQ(t.host_ops.size(), 2U);
  EXPECT_EQ(t.api_calls.size(), 3U);
  EXPECT_EQ(t.activities.size(), 6U);
  EXPECT_EQ(t.annotations.size(), 1U);
  EXPECT_EQ(t.python.size(), 1U);
  EXPECT_EQ(t.profiler_overhead.size(), 1U);
  EXPECT_EQ(t.syncs.size(), 1U);
  EXPECT_TRUE(t.profiler_span.has_value());
  EXPECT_THAT(counter_lines(t), ElementsAre("unknown_category=1"));
}

TEST(Kineto, ProfilerRangesAmongTheOperatorsAreAnnotations) {
  std::vector<std::string> events;
  for (const char* name : {"ProfilerStep#5", "enumerate(DataLoader)#_X.__next__",
                           "Optimizer.step#SGD.step", "aten::add"}) {
    events.push_back(R"({"ph": "X", "cat": "Operator", "name": ")" + std::string(name) +
                     R"(", "pid": 1, "tid": "1", "ts": 1, "dur": 1})");
  }
  const model::RankTimeline t = import_one(trace_of(events));
  EXPECT_EQ(t.annotations.size(), 3U);
  EXPECT_EQ(t.host_ops.size(), 1U);
}

}  // namespace
}  // namespace pyrometer::importers::kineto
