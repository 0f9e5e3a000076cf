#include "model/sort_rows.h"

#include <array>

namespace pyrometer::model {

void radix_sort_by_time(std::vector<Index>& order, const std::vector<TimeNs>& start) {
  if (order.size() < 2) return;
  constexpr int kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  const auto [low, high] = std::minmax_element(start.begin(), start.end());
  // Unsigned arithmetic: the span of two int64 times always fits.
  const auto base = static_cast<std::uint64_t>(*low);
  const std::uint64_t span = static_cast<std::uint64_t>(*high) - base;
  std::vector<Index> other(order.size());
  for (int shift = 0; shift < 64 && (span >> shift) != 0; shift += kBits) {
    std::array<Index, kBuckets + 1> place{};
    const auto digit = [&](Index i) {
      return ((static_cast<std::uint64_t>(start[i]) - base) >> shift) & (kBuckets - 1);
    };
    for (const Index i : order) ++place[digit(i) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    for (const Index i : order) other[place[digit(i)]++] = i;
    order.swap(other);
  }
}

}  // namespace pyrometer::model
