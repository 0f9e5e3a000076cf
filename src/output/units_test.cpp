#include "output/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace pyrometer::output {
namespace {

TEST(Units, DurationsHaveThreeDigitsAndTheUnitThatSuits) {
  EXPECT_EQ(format_duration(0), "0");
  EXPECT_EQ(format_duration(812), "812 ns");
  EXPECT_EQ(format_duration(999.6), "1.00 µs");
  EXPECT_EQ(format_duration(8120), "8.12 µs");
  EXPECT_EQ(format_duration(81'200'000), "81.2 ms");
  EXPECT_EQ(format_duration(999'700'000), "1.00 s");
  EXPECT_EQ(format_duration(31e9), "31.0 s");
  EXPECT_EQ(format_duration(1260e9), "21.0 min");
  EXPECT_EQ(format_duration(40 * 3600e9), "40.0 h");
  EXPECT_EQ(format_duration(std::nan("")), "?");
}

TEST(Units, Energy) {
  EXPECT_EQ(format_energy(0), "0 J");
  EXPECT_EQ(format_energy(0.0052), "5.20 mJ");
  EXPECT_EQ(format_energy(5.2), "5.20 J");
  EXPECT_EQ(format_energy(12'300), "12.3 kJ");
  EXPECT_EQ(format_energy(5.4e6), "1.50 kWh");
}

TEST(Units, RangesShareAUnitAndCollapse) {
  EXPECT_EQ(format_duration_range(5.61e6, 7.02e6), "5.61–7.02 ms");
  EXPECT_EQ(format_duration_range(7.02e6, 5.61e6), "5.61–7.02 ms");
  EXPECT_EQ(format_duration_range(900e3, 1.1e6), "0.90–1.10 ms");
  EXPECT_EQ(format_duration_range(5.612e6, 5.613e6), "5.61 ms");
  EXPECT_EQ(base::format_speedup(10, 9.6, 9.2, 10), "1.04× as fast (1.00–1.09×)");
  EXPECT_EQ(base::format_speedup(100, 20, 16.9, 21.2), "5.0× as fast (4.7–5.9×)");
  EXPECT_EQ(base::format_speedup(100, 20, 21.2, 16.9), "5.0× as fast (4.7–5.9×)");
  EXPECT_EQ(base::format_speedup(100, 50, 50, 50), "2.0× as fast");
  EXPECT_EQ(base::format_speedup(1, 0, 0, 1), "?");
  EXPECT_EQ(base::format_expected(426e3, 160e3, 1.32e6), "0.43 ms");
  EXPECT_EQ(format_percent_range(0.45, 0.524), "45–52%");
  EXPECT_EQ(format_percent_range(0, 0.085), "up to 8.5%");
}

TEST(Units, Money) {
  EXPECT_EQ(format_usd(0), "$0");
  EXPECT_EQ(format_usd(0.00421), "$0.0042");
  EXPECT_EQ(format_usd(0.42), "$0.42");
  EXPECT_EQ(format_usd(42.1), "$42.10");
  EXPECT_EQ(format_usd(4210.4), "$4,210");
  EXPECT_EQ(format_usd_range(32.11, 38.66), "$32–39");
  EXPECT_EQ(format_usd_range(0, 5.071), "up to $5.07");
  EXPECT_EQ(format_usd_range(0.4, 16), "up to $16");
  EXPECT_EQ(format_usd_part(0.0766, 60), "0.08");
  EXPECT_EQ(format_usd_part(1234.5, 4800), "1,234");
}

TEST(Units, CountsAndBytes) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(-1234), "-1,234");
  EXPECT_EQ(format_count(1.25), "1.25");
  EXPECT_EQ(format_bytes(812), "812 B");
  EXPECT_EQ(format_bytes(1023), "1.00 KiB");
  EXPECT_EQ(format_bytes(1.5 * 1024 * 1024 * 1024), "1.50 GiB");
  EXPECT_EQ(format_quantity(0.873, "fraction"), "87.3%");
  EXPECT_EQ(format_quantity(54.7, "GB/s"), "54.7 GB/s");
  EXPECT_EQ(format_quantity(12, "count"), "12");
}

TEST(Apportion, LargestRemainderAddsUp) {
  const std::int64_t thirds[] = {1, 1, 1};
  EXPECT_EQ(apportion(thirds, 1000), (std::vector<std::int64_t>{334, 333, 333}));
  const std::int64_t none[] = {0, 0};
  EXPECT_EQ(apportion(none, 1000), (std::vector<std::int64_t>{0, 0}));
  std::mt19937_64 random(13);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::int64_t> parts(1 + random() % 24);
    for (std::int64_t& part : parts)
      part = static_cast<std::int64_t>(random() >> (8 + random() % 50));
    if (std::accumulate(parts.begin(), parts.end(), 0.0) > 9e18) continue;
    const std::int64_t sum = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
    const std::vector<std::int64_t> shares = apportion(parts, 1000);
    if (sum == 0) continue;
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}), 1000);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double exact = 1000.0 * static_cast<double>(parts[i]) / static_cast<double>(sum);
      EXPECT_LT(std::abs(static_cast<double>(shares[i]) - exact), 1.0 + 1e-6);
    }
  }
}

}  // namespace
}  // namespace pyrometer::output
