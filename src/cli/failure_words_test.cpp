#include "cli/failure_words.h"

#include <gtest/gtest.h>

#include <random>

namespace pyrometer::cli {
namespace {

constexpr std::string_view kTraceback = R"(epoch 1
Traceback (most recent call last):
  File "/home/me/train.py", line 40, in <module>
    main()
  File "/home/me/loop.py", line 12, in step
    loss = model(x)
  File "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", line 1194, in _call_impl
    return forward_call(*input, **kwargs)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x1)
)";

TEST(FailureWords, TheExceptionAndTheUsersOwnLine) {
  EXPECT_EQ(failure_words(kTraceback),
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x1) (loop.py:12, in "
            "step)");
  // What is printed behind it does not hide it.
  EXPECT_EQ(failure_words(std::string(kTraceback) + "wandb: uploading\n"),
            failure_words(kTraceback));
  EXPECT_EQ(failure_words("  File \"a.py\", line 3\n"), "File \"a.py\", line 3");
}

TEST(FailureWords, OfAModuleWithoutFunction) {
  EXPECT_EQ(failure_words("Traceback (most recent call last):\n  File \"t.py\", line 2, in "
                          "<module>\n    1 / 0\nZeroDivisionError: division by zero\n"),
            "ZeroDivisionError: division by zero (t.py:2)");
}

TEST(FailureWords, OfTheRankNotOfItsLauncher) {
  const std::string launched = R"([rank1]: Traceback (most recent call last):
[rank1]:   File "/w/train.py", line 7, in <module>
[rank1]:     raise ValueError("no")
[rank1]: ValueError: no
Traceback (most recent call last):
  File "/usr/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
)";
  EXPECT_EQ(failure_words(launched), "ValueError: no (train.py:7)");
}

TEST(FailureWords, ElseTheLastLine) {
  EXPECT_EQ(failure_words("a\nb c \r\n\n"), "b c");
  EXPECT_EQ(failure_words(" \n"), "");
  EXPECT_EQ(failure_words(""), "");
  EXPECT_EQ(traceback_words("a\nb"), "");
  const std::string cut = "Traceback (most recent call last):\n  File \"t.py\", line 2, in f\n";
  EXPECT_EQ(traceback_words(cut), "");
  EXPECT_EQ(failure_words(std::string(299, 'a') + "ä" + "b"), std::string(299, 'a') + "…");
}

TEST(FailureWords, AnyTextGivesOneShortLine) {
  constexpr std::string_view kParts[] = {"Traceback (most recent call last):",
                                         "\n",
                                         "  File \"",
                                         "\", line ",
                                         ", in ",
                                         "[r]: ",
                                         "E: x",
                                         " ",
                                         "é"};
  std::mt19937_64 random(7);
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    const std::size_t parts = random() % 30;
    for (std::size_t i = 0; i < parts; ++i) text += kParts[random() % std::size(kParts)];
    const std::string words = failure_words(text);
    EXPECT_EQ(words.find('\n'), std::string::npos);
    EXPECT_LE(words.size(), 610U);
  }
}

}  // namespace
}  // namespace pyrometer::cli
