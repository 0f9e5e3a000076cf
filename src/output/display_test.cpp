#include "output/display.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace pyrometer::output {
namespace {

TEST(Printable, TakesAwayWhatSteersATerminal) {
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m", true), "\uFFFD[31mred\uFFFD[0m");
  EXPECT_EQ(printable("\x1b]0;title\x07", true), "\uFFFD]0;title\uFFFD");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m",
                      true),
            "\uFFFD31m");  // C1 CSI
  EXPECT_EQ(printable("a\nb\tc\rd", true), "a b c d");
  EXPECT_EQ(printable("\u202Egnp.exe", true), "\uFFFDgnp.exe");    // right-to-left override
  EXPECT_EQ(printable("a\u200Bb\uFEFF", true), "a\uFFFDb\uFFFD");  // not to be seen
  EXPECT_EQ(printable("\xFF\xC0", true), "\uFFFD\uFFFD");
  EXPECT_EQ(printable(std::string_view("\0x", 2), false), "?x");
}

TEST(Printable, SpellsSignsOutWithoutUnicode) {
  EXPECT_EQ(printable("5 µs × 2 → 3–4 ≥ 1 · …", false), "5 us x 2 -> 3-4 >= 1 | ..");
  EXPECT_EQ(printable("日本", false), "??");
  EXPECT_EQ(printable("5 µs × 2", true), "5 µs × 2");
}

TEST(Printable, AnyBytesBecomeHarmless) {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes(random() % 60, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 256);
    const std::string ascii = printable(bytes, false);
    EXPECT_TRUE(
        std::all_of(ascii.begin(), ascii.end(), [](char c) { return c >= 0x20 && c < 0x7F; }));
    const std::string text = printable(bytes, true);
    EXPECT_EQ(printable(text, true), text);
    EXPECT_TRUE(std::none_of(text.begin(), text.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    }));
    EXPECT_LE(display_width(shorten_middle(bytes, 20, true)), 20);
    EXPECT_LE(display_width(shorten_symbol(bytes, 20, false)), 20);
  }
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("µ×–"), 3);
  EXPECT_EQ(display_width("日本語"), 6);
  EXPECT_EQ(display_width("🔥"), 2);
  EXPECT_EQ(display_width("e\u0301"), 1);  // combining accent
  EXPECT_EQ(display_width("█▏"), 2);
  EXPECT_EQ(pad_left("日", 4), "  日");
  EXPECT_EQ(pad_right("µ", 3), "µ  ");
}

TEST(Shorten, TheMiddleGivesWay) {
  EXPECT_EQ(shorten_middle("abcdefghij", 10, true), "abcdefghij");
  EXPECT_EQ(shorten_middle("abcdefghijk", 8, true), "abcde…jk");
  EXPECT_EQ(shorten_middle("abcdefghijk", 8, false), "abcd..jk");
  EXPECT_EQ(shorten_middle("日本語日本語", 7, true), "日本…語");
  EXPECT_EQ(shorten_middle("abc", 1, true), "a");
  EXPECT_EQ(shorten_middle("abc", 0, true), "a");
}

TEST(Shorten, KernelNamesLoseWhatTellsLittleFirst) {
  const std::string name =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::Half>, "
      "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::Half>, std::array<char*, "
      "3ul>)";
  EXPECT_EQ(shorten_symbol(name, 400, true), name);
  EXPECT_EQ(shorten_symbol(name, 130, true),
            "at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::Half>, "
            "std::array<char*, 3ul> >");
  EXPECT_EQ(shorten_symbol(name, 80, true),
            "vectorized_elementwise_kernel<4, CUDAFunctor_add<Half>, array<char*, 3ul>>");
  EXPECT_EQ(shorten_symbol(name, 70, true),
            "vectorized_elementwise_kernel<4, CUDAFunctor_add<…>, array<…>>");
  EXPECT_EQ(shorten_symbol(name, 60, true), "vectorized_elementwise_kernel<CUDAFunctor_add<…>>");
  EXPECT_EQ(shorten_symbol(name, 30, true), "vectorized_element…tor_add<…>>");
}

TEST(Shorten, FunctorsAreKnownByTheirFunction) {
  const std::string name =
      "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
      "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::"
      "{lambda()#7}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, "
      "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
      "const::{lambda(float)#1} const&)::{lambda(int)#1}>(int, long)";
  EXPECT_EQ(shorten_symbol(name, 80, true),
            "elementwise_kernel<128, 4, gpu_kernel_impl_nocast<direct_copy_kernel_cuda>>");
}

TEST(Shorten, NamesThatOnlyLookLikeCppStayWhole) {
  EXPECT_EQ(shorten_symbol("(anonymous namespace)::f(int)", 40, true),
            "(anonymous namespace)::f(int)");
  EXPECT_EQ(shorten_symbol("at::(anonymous namespace)::f(int, long)", 12, true), "f");
  EXPECT_EQ(shorten_symbol("Memcpy HtoD (Pageable -> Device)", 32, true),
            "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(shorten_symbol("a < b > c :: d ) ( <<", 12, true).empty(), false);
  EXPECT_EQ(shorten_symbol("gemm<128, 64, true>_with_a_long_end", 30, true),
            "gemm<128, 64, true…_a_long_end");
}

}  // namespace
}  // namespace pyrometer::output
