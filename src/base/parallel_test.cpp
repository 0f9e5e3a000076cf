#include "base/parallel.h"

#include <gtest/gtest.h>

#include <new>
#include <vector>

namespace pyrometer::base {
namespace {

TEST(ForEachIndex, CallsEachOnce) {
  for (const unsigned threads : {0U, 1U, 2U, 7U}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
      std::vector<std::atomic<int>> calls(count);
      for_each_index(count, threads, [&](std::size_t i) { ++calls[i]; });
      for (const std::atomic<int>& n : calls) EXPECT_EQ(n, 1);
    }
  }
}

TEST(ForEachIndex, HandsOnWhatIsThrown) {
  for (const unsigned threads : {1U, 4U}) {
    std::atomic<int> calls{0};
    const auto work = [&](std::size_t i) {
      ++calls;
      if (i == 3) throw std::bad_alloc();
    };
    EXPECT_THROW(for_each_index(1000, threads, work), std::bad_alloc);
    EXPECT_GE(calls, 1);
  }
}

}  // namespace
}  // namespace pyrometer::base
