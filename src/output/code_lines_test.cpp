#include "output/code_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "output/display.h"

namespace pyrometer::output {
namespace {

using ::testing::ElementsAre;

TEST(CodeLines, StayAsTheyAreWhereTheyFit) {
  EXPECT_THAT(fit_code("if x:\n    f(a,  b)  # why\n", 40),
              ElementsAre("if x:", "    f(a,  b)  # why"));
}

TEST(CodeLines, BreakInBracketsAfterCommas) {
  EXPECT_THAT(fit_code("model = DDP(model, bucket_cap_mb=10, static_graph=True)", 40),
              ElementsAre("model = DDP(model, bucket_cap_mb=10,", "    static_graph=True)"));
  EXPECT_THAT(fit_code("torch.set_float32_matmul_precision('high')", 36),
              ElementsAre("torch.set_float32_matmul_precision(", "    'high')"));
}

TEST(CodeLines, BreakWithABackslashElsewhere) {
  EXPECT_THAT(fit_code("torchrun --nproc-per-node=gpu train.py", 35),
              ElementsAre("torchrun --nproc-per-node=gpu \\", "    train.py"));
  EXPECT_THAT(fit_code("from torch.distributed.hooks import default_hooks", 30),
              ElementsAre("from torch.distributed.hooks \\", "    import default_hooks"));
  EXPECT_THAT(fit_code("from torch.distributed.algorithms.hooks import x", 35),
              ElementsAre("from \\", "    torch.distributed.algorithms \\", "    .hooks import x"));
}

// A bracket that an earlier line opened needs no backslash, and no alignment with it.
TEST(CodeLines, KnowTheBracketsOfEarlierLines) {
  EXPECT_THAT(
      fit_code("loader = DataLoader(data,\n                    workers=os.cpu_count() // 2)", 32),
      ElementsAre("loader = DataLoader(data,", "    workers=os.cpu_count() // 2)"));
}

TEST(CodeLines, KeepEmptyBracketsTogether) {
  EXPECT_THAT(fit_code("f(data,\n  workers=os.cpu_count() // 2)", 26),
              ElementsAre("f(data,", "  workers=os.cpu_count()", "  // 2)"));
}

TEST(CodeLines, NeverBreakStrings) {
  EXPECT_THAT(fit_code("print(\"one, two (three) four\")", 20),
              ElementsAre("print(", "    \"one, two (three) four\")"));
}

TEST(CodeLines, MoveAndWrapComments) {
  EXPECT_THAT(fit_code("    f(x)  # what this call is good for", 20),
              ElementsAre("    # what this call", "    # is good for", "    f(x)"));
  EXPECT_THAT(fit_code("# CUDA_ALLOC_CONF=expandable:True", 20),
              ElementsAre("# CUDA_ALLOC_CONF=", "# expandable:True"));
}

TEST(CodeLines, EndWhateverTheWidth) {
  for (int width = 1; width < 60; ++width) {
    const auto lines = fit_code("x = f(a, b.c.d, [1, 2, 3]) + g . h(\"s\")  # note it\n\ny", width);
    EXPECT_EQ(lines.back(), "y");
    EXPECT_LE(lines.size(), 40U);
  }
}

}  // namespace
}  // namespace pyrometer::output
