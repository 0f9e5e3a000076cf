// Text that is not as it should be: what is sound of it is imported, and what was mended or dropped
// is counted.
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
using testing::trace_of;

std::vector<std::string> op_names(const model::RankTimeline& t) {
  std::vector<std::string> names;
  for (const model::NameId id : t.host_ops.name) names.emplace_back(t.name(id));
  return names;
}

TEST(KinetoDamage, InfiniteTimesAreDroppedAndCounted) {
  const std::string text =
      trace_of({op_event("aten::a", "inf", "2"), op_event("aten::b", "1", "NaN"),
                op_event("aten::c", "3", "4"), op_event("aten::d", "9e30", "4")});
  const model::RankTimeline t = import_one(text);
  EXPECT_THAT(op_names(t), ElementsAre("aten::c"));
  EXPECT_THAT(counter_lines(t), ElementsAre("missing_duration=1", "missing_time=2"));
  EXPECT_TRUE(t.stats.lost_data());
  EXPECT_EQ(t.info.event_count, 4);
  // The offset is that of the event's first byte.
  EXPECT_EQ(text.substr(static_cast<std::size_t>(t.stats.counters()[1].first_offset), 1), "{");
  EXPECT_EQ(t.stats.counters()[1].first_offset,
            static_cast<std::int64_t>(text.find("{\n    \"ph\"")));
}

TEST(KinetoDamage, InvalidUtf8InNames) {
  const model::RankTimeline t = import_one(
      trace_of({op_event("aten::\xFF\xFEx", "1", "2"), op_event("aten::\xC3\xA9", "5", "6"),
                op_event("aten::\xE2\x82", "7", "8")}));
  EXPECT_THAT(op_names(t), ElementsAre("aten::\xEF\xBF\xBD\xEF\xBF\xBDx", "aten::\xC3\xA9",
                                       "aten::\xEF\xBF\xBD"));
  EXPECT_THAT(counter_lines(t), ElementsAre("invalid_utf8=2"));
  EXPECT_FALSE(t.stats.lost_data());
}

TEST(KinetoDamage, ControlCharactersInNames) {
  const model::RankTimeline t =
      import_one(trace_of({op_event("aten::a", "1", "2"), op_event("two\nlines\x01!", "5", "6"),
                           op_event("aten::c", "7", "8")}));
  EXPECT_THAT(op_names(t), ElementsAre("aten::a", "two lines !", "aten::c"));
  EXPECT_THAT(counter_lines(t), ElementsAre("control_characters=1"));
}

TEST(KinetoDamage, UnescapedBackslashes) {
  const model::RankTimeline t = import_one(trace_of(
      {op_event(R"(C:\Users\new\train.py(3): run)", "1", "2"), op_event("aten::b", "5", "6")}));
  EXPECT_THAT(op_names(t), ElementsAre(R"(C:\Users\new\train.py(3): run)", "aten::b"));
  EXPECT_THAT(counter_lines(t), ElementsAre("invalid_escape=1"));
}

TEST(KinetoDamage, PathThatEndsWithABackslash) {
  const model::RankTimeline t =
      import_one(trace_of({op_event("aten::a", "1", "2"), op_event(R"(C:\Users\)", "3", "4"),
                           op_event("aten::c", "5", "6")}));
  EXPECT_THAT(op_names(t), ElementsAre("aten::a", R"(C:\Users\)", "aten::c"));
  EXPECT_THAT(counter_lines(t), ElementsAre("mended_event=1"));
}

TEST(KinetoDamage, UnescapedQuotesInNames) {
  const model::RankTimeline t =
      import_one(trace_of({op_event("aten::a", "1", "2"), op_event(R"(print("x", "y"))", "3", "4"),
                           op_event(R"(one " quote)", "5", "6"), op_event("aten::d", "7", "8"),
                           kernel_event(R"(k<"s">)", "9", "2", 44)}));
  EXPECT_THAT(op_names(t),
              ElementsAre("aten::a", R"(print("x", "y"))", R"(one " quote)", "aten::d"));
  ASSERT_EQ(t.activities.size(), 1U);
  EXPECT_EQ(t.name(t.activities.name[0]), R"(k<"s">)");
  EXPECT_EQ(t.kernel_configs[0].block[0], 128U);
  EXPECT_EQ(t.host_ops.end[1], 7000);
  EXPECT_THAT(counter_lines(t), ElementsAre("mended_event=3"));
  EXPECT_FALSE(t.stats.lost_data());
}

TEST(KinetoDamage, AnyOfTheLastEvents) {
  for (const std::size_t broken : {9U, 8U, 7U, 6U}) {
    std::vector<std::string> events;
    for (std::size_t i = 0; i < 10; ++i) {
      const std::string time = std::to_string(10 * i + 1);
      events.push_back(op_event(i == broken ? "one \" quote" : "aten::a", time, "2"));
    }
    const std::string text = trace_of(events, "", "\"baseTimeNanoseconds\": 7");
    for (const std::size_t block :
         {std::size_t{1}, text.size() / 2, text.size(), 2 * text.size()}) {
      const model::RankTimeline t = import_one(text, block);
      EXPECT_EQ(t.host_ops.size(), 10U) << broken << " of 10, blocks of " << block;
      EXPECT_EQ(t.host_ops.start[0], 1007);  // the metadata behind the events is read
      EXPECT_THAT(counter_lines(t), ElementsAre("mended_event=1"));
    }
  }
}

TEST(KinetoDamage, LogTextBetweenAndInsideEvents) {
  std::string text = trace_of({op_event("aten::a", "1", "2"), op_event("aten::b", "3", "4"),
                               op_event("aten::c", "5", "6")});
  const std::size_t second =
      text.find("  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::b\"");
  text.insert(second, "[W1024 12:00:01 perf.cpp:33] Warning: {buffer} \"full\"]\n");
  const std::size_t inside = text.find("\"ts\": 5");
  text.insert(inside, "INFO:2024-07-15 10:52:38 1074:1074 CuptiActivityProfiler.cpp:914] flush\n");
  const model::RankTimeline t = import_one(text);
  EXPECT_THAT(op_names(t), ElementsAre("aten::a", "aten::b", "aten::c"));
  EXPECT_THAT(counter_lines(t), ElementsAre("foreign_text=1", "mended_event=1"));
}

TEST(KinetoDamage, LogTextAroundTheDocument) {
  const std::string text = "STAGE:2024 [W123] starting {1}\n" +
                           trace_of({op_event("aten::a", "1", "2")}) + "bye [x] {y}\n";
  const model::RankTimeline t = import_one(text);
  EXPECT_THAT(op_names(t), ElementsAre("aten::a"));
}

TEST(KinetoDamage, StrayCommas) {
  const std::string text =
      R"({"schemaVersion": 1,, "traceEvents": [, {"ph": "X", "cat": "cpu_op", "name": "a",, "pid": 1,
      "tid": 1, "ts": 1, "dur": 1,}, , {"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1,
      "ts": 2, "dur": 1, "args": {"x": 1,,"y": 2,}}, ]})";
  const model::RankTimeline t = import_one(text);
  EXPECT_THAT(op_names(t), ElementsAre("a", "b"));
  EXPECT_THAT(counter_lines(t), ElementsAre("stray_comma=5"));
}

TEST(KinetoDamage, MissingCommasBetweenEvents) {
  const model::RankTimeline t = import_one("[" + op_event("a", "1", "2") + op_event("b", "3", "4") +
                                           "\n" + op_event("c", "5", "6") + "]");
  EXPECT_THAT(op_names(t), ElementsAre("a", "b", "c"));
  EXPECT_THAT(counter_lines(t), ElementsAre("missing_comma=2"));
}

TEST(KinetoDamage, EventsWithoutAnyArray) {
  const model::RankTimeline t =
      import_one(op_event("a", "1", "2") + "\n" + op_event("b", "3", "4") + "\n");
  EXPECT_THAT(op_names(t), ElementsAre("a", "b"));
}

TEST(KinetoDamage, BeginningOfTheFileIsMissing) {
  const std::string text =
      trace_of({op_event("a", "1", "2"), op_event("b", "3", "4"), op_event("c", "5", "6")});
  const model::RankTimeline t = import_one(text.substr(text.find("\"Input Dims\"")));
  EXPECT_THAT(op_names(t), ElementsAre("b", "c"));
}

TEST(KinetoDamage, DuplicateKeysTakeTheLastValue) {
  const model::RankTimeline t = import_one(
      R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "first", "pid": 1, "tid": 1, "ts": 1,
          "dur": 1, "name": "last", "ts": 7}]})");
  EXPECT_THAT(op_names(t), ElementsAre("last"));
  EXPECT_EQ(t.host_ops.start[0], 7000);
  EXPECT_THAT(counter_lines(t), ElementsAre("duplicate_key=1"));
}

TEST(KinetoDamage, TruncatedAnywhere) {
  const std::string text =
      trace_of({op_event("a", "1", "2"), op_event("b", "3", "4"), op_event("c", "5", "6")});
  const std::size_t first_end = text.find("},\n  {") + 1;
  const std::size_t second_end = text.find("},\n  {", first_end) + 1;
  for (std::size_t cut = first_end; cut < second_end; ++cut) {
    const model::RankTimeline t = import_one(text.substr(0, cut));
    EXPECT_THAT(op_names(t), ElementsAre("a")) << cut;
    EXPECT_THAT(counter_lines(t), ElementsAre("truncated_file=1")) << cut;
  }
}

TEST(KinetoDamage, IncompleteEventsAreCounted) {
  const model::RankTimeline t = import_one(
      R"([{"ph": "X", "cat": "cpu_op", "name": "ok", "pid": 1, "tid": 1, "ts": 1, "dur": 1},
          {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 1},
          {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "dur": 1},
          {"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 1},
          {"cat": "cpu_op", "name": "c", "pid": 1, "tid": 1, "ts": 1, "dur": 1},
          {"ph": "X", "cat": "cpu_op", "name": "d", "ts": 1, "dur": 1}, {}])");
  EXPECT_THAT(counter_lines(t), ElementsAre("missing_duration=1", "missing_name=1",
                                            "missing_phase=2", "missing_time=1"));
  EXPECT_THAT(op_names(t), ::testing::UnorderedElementsAre("ok", "d"));
}

TEST(KinetoDamage, EventsAfterAListClosedTooEarly) {
  std::string text = trace_of({op_event("a", "1", "2"), op_event("b", "3", "4")});
  text.insert(text.find("},\n  {") + 1, " ] ");
  const model::RankTimeline t = import_one(text);
  EXPECT_THAT(op_names(t), ElementsAre("a", "b"));
}

TEST(KinetoDamage, DamagedMetadataDoesNotHideTheEvents) {
  const model::RankTimeline t = import_one(trace_of(
      {op_event("a", "1", "2")},
      "\"deviceProperties\": [{\"id\": 0, \"name\": \"x\" \"y\"}], \"traceName\": \"C:\\tmp\\\""));
  EXPECT_THAT(op_names(t), ElementsAre("a"));
  EXPECT_THAT(counter_lines(t), ::testing::Contains("unreadable_metadata=1"));
}

struct BadInput {
  std::string text;
  base::ErrorKind kind;
  std::string message;
};

TEST(KinetoDamage, NothingUsableIsAnError) {
  const std::vector<BadInput> inputs = {
      {"", base::ErrorKind::kEmpty, "the file is empty"},
      {R"({"traceEvents": []})", base::ErrorKind::kEmpty, "the trace has no events"},
      {"[]", base::ErrorKind::kEmpty, "the trace has no events"},
      {R"({"foo": [1, 2, {"a": "}"}]})", base::ErrorKind::kFormat, "JSON without traceEvents"},
      {"noise [] noise", base::ErrorKind::kFormat, "not JSON"},
      {"hello world", base::ErrorKind::kFormat, "not JSON"},
      {"\x7F"
       "ELF\x02\x01",
       base::ErrorKind::kFormat, "not JSON"},
      {std::string(1000, '\0'), base::ErrorKind::kEmpty, "nothing but zero bytes"},
      {R"({"traceEvents":[{"name":"aaaa)", base::ErrorKind::kDamaged,
       "the file ends early, inside its first event"},
      {R"([{"ph": "X", "na)", base::ErrorKind::kDamaged,
       "the file ends early, inside its first event"},
      {R"({"traceEvents": [)", base::ErrorKind::kDamaged,
       "the file ends early, inside its first event"},
      {R"({"schemaVersion": 1, "devicePro)", base::ErrorKind::kDamaged,
       "the file ends early, before any event"},
      {R"({"schemaVersion": 1, "deviceProperties": [{"id": 0)", base::ErrorKind::kDamaged,
       "the file ends early, before any event"},
      {std::string("\x8B\x03[]\x99{\"\x01", 8), base::ErrorKind::kFormat, "not JSON"},
      {"{{{{{{[[[[", base::ErrorKind::kFormat, "not JSON"},
      {"   \n ", base::ErrorKind::kFormat, "not JSON"},
  };
  for (const BadInput& input : inputs) {
    for (const std::size_t block : {std::size_t{1}, std::size_t{1000}}) {
      const auto traces = import_all(input.text, block);
      ASSERT_FALSE(traces.has_value()) << input.text;
      EXPECT_EQ(traces.error().kind, input.kind) << input.text;
      EXPECT_EQ(traces.error().message, input.message) << input.text;
      EXPECT_FALSE(traces.error().advice.empty());
    }
  }
}

// Delivers `pattern` again and again.
class EndlessSource final : public base::ByteSource {
 public:
  explicit EndlessSource(std::string pattern) : pattern_(std::move(pattern)) {}
  base::Result<std::size_t> read(char* to, std::size_t size) override {
    size = std::min(size - size % pattern_.size(), kBlock / pattern_.size() * pattern_.size());
    while (block_.size() < size) block_ += pattern_;
    std::memcpy(to, block_.data(), size);
    given_ += size;
    return size;
  }
  [[nodiscard]] std::size_t given() const { return given_; }

 private:
  static constexpr std::size_t kBlock = 64 * 1024;
  std::string pattern_;
  std::string block_;
  std::size_t given_ = 0;
};

TEST(KinetoDamage, GivesUpOnEndlessGarbage) {
  StreamOptions options;
  options.patience = 1 << 20;
  for (const char* pattern : {"garbage ", "{", "[", "\"", " ", "{\"a\": ", "x]}{\n"}) {
    EndlessSource source(pattern);
    const auto traces = import_stream(source, options);
    ASSERT_FALSE(traces.has_value()) << pattern;
    EXPECT_EQ(traces.error().kind, base::ErrorKind::kFormat) << pattern;
    EXPECT_FALSE(traces.error().expected.empty());
    EXPECT_LT(source.given(), 6U << 20) << pattern;
  }
  EndlessSource source("[]");
  EXPECT_EQ(import_stream(source, options).error().kind, base::ErrorKind::kEmpty);
}

// Whatever a byte of an event is turned into: nothing is lost without being counted as lost. Left
// out are the values that any text may stand in: category, name and the arguments.
TEST(KinetoDamage, AFlippedByteLosesNothingSilently) {
  const std::vector<std::string> events = {
      op_event("aten::a", "1", "2"), op_event("aten::b", "3", "4"), op_event("aten::c", "5", "6")};
  const std::string text = trace_of(events);
  const std::size_t begin = text.find(events[1]);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t category = text.find("cpu_op", begin);
  for (std::size_t i = begin; i < begin + events[1].size(); ++i) {
    if (i + 2 >= category && i < category + 6) continue;
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ (1U << bit));
      for (const std::size_t block : {std::size_t{7}, std::size_t{100000}}) {
        const model::RankTimeline t = import_one(damaged, block);
        const bool all = t.host_ops.size() == 3;
        EXPECT_TRUE(all || t.stats.lost_data())
            << "byte " << i - begin << " of the event is " << damaged[i] << ", blocks of " << block;
      }
    }
  }
}

TEST(KinetoDamage, TextBehindATraceIsNoDataLoss) {
  const std::string trace = trace_of({op_event("a", "1", "2")});
  const model::RankTimeline t = import_one(trace + "garbage {");
  EXPECT_THAT(counter_lines(t), ElementsAre("trailing_text=1"));
  EXPECT_FALSE(t.stats.lost_data());
  EXPECT_EQ(t.stats.counters()[0].help, "10 bytes after the end of the trace ignored");
  EXPECT_EQ(t.stats.counters()[0].first_offset, static_cast<std::int64_t>(trace.rfind('}') + 1));
}

}  // namespace
}  // namespace pyrometer::importers::kineto
