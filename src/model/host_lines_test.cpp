#include "model/host_lines.h"

#include <gtest/gtest.h>

namespace pyrometer::model {
namespace {

TEST(HostLines, AddUpByPhaseAndLine) {
  RecordedRun run;
  run.host_lines = {{"stack input train.py:12 __getitem__ | PIL/Image.py:3 open", 30},
                    {"stack input train.py:12 __getitem__ | torch/functional.py:9 stft", 50},
                    {"stack forward train.py:40 main | torch/nn/modules/linear.py:114 forward", 15},
                    {"stack host - | threading.py:5 wait", 5}};
  const auto lines = host_lines_of(run);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].phase, "input");
  EXPECT_EQ(lines[0].line, "train.py:12 __getitem__");
  EXPECT_EQ(lines[0].innermost, "torch/functional.py:9 stft");
  EXPECT_EQ(lines[0].samples, 80);
  EXPECT_DOUBLE_EQ(lines[0].share, 0.8);
  EXPECT_EQ(lines[2].line, "-");
}

TEST(HostLines, PassOverWhatIsNoSample) {
  RecordedRun run;
  run.host_lines = {{"", 3},           {"stack", 1},          {"stack input", 2},
                    {"stack  | ", 2},  {"stack a b | c", -9}, {"memory.allocated_bytes", 7},
                    {"stack a | b", 4}};
  EXPECT_TRUE(host_lines_of(run).empty() || host_lines_of(run)[0].samples > 0);
  for (const HostLine& line : host_lines_of(run)) EXPECT_GT(line.samples, 0);
}

TEST(HostLines, SayWhyThereAreNone) {
  RecordedRun run;
  EXPECT_EQ(why_no_host_lines(run), "its Python stack was not sampled");
  run.info["hook.sampler"] = "off: this version of Python is not known";
  EXPECT_EQ(why_no_host_lines(run), "this version of Python is not known");
  run.host_lines = {{"stack host train.py:1 f | train.py:1 f", 1}};
  EXPECT_EQ(why_no_host_lines(run), "");
}

}  // namespace
}  // namespace pyrometer::model
