#include "cost/price_table.h"

#include <gtest/gtest.h>

#include <random>

#include "cost/csv_table.h"

namespace pyrometer::cost {
namespace {

constexpr std::string_view kOwn =
    "# prices of 2026\n"
    "gpu,usd_per_hour,gpus,region\n"
    "NVIDIA H200,2.50,,\n"
    "\"NVIDIA L4\",0.8,1,here\n"
    "NVIDIA L4,0.9,1,there\n"
    "NVIDIA L40S,14.4,8,\n";
constexpr std::string_view kCatalog =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,"
    "AvailabilityZone\n"
    "p5.48xlarge,H100,8.0,192.0,2048.0,\"{'Gpus': [{'Name': 'H100', 'Count': 8}]}\",98.32,24.8,"
    "us-east-1,us-east-1a\n"
    "p5.48xlarge,H100,8.0,192.0,2048.0,,98.32,31.2,us-east-1,us-east-1b\n"
    "p5.48xlarge,H100,8.0,192.0,2048.0,,110.0,,eu-north-1,eu-north-1a\n"
    "m5.large,,,2,8,,0.096,0.03,us-east-1,us-east-1a\n";

PriceTable table_of(std::string_view text) {
  auto table = PriceTable::parse(text, "prices.csv");
  EXPECT_TRUE(table.has_value()) << table.error().to_string();
  return std::move(*table);
}

std::string error_of(std::string_view text) {
  const auto table = PriceTable::parse(text, "prices.csv");
  return table ? "" : table.error().to_string();
}

std::string why_not(const PriceTable& table, const PriceChoice& choice,
                    const std::set<std::string>& names) {
  const auto price = table.find(choice, names);
  return price ? "" : price.error().to_string();
}

TEST(PriceTable, FindsByTheExactNameOfTheGpu) {
  const PriceTable table = table_of(kOwn);
  const auto price = table.find({}, {"NVIDIA H200"});
  ASSERT_TRUE(price.has_value());
  EXPECT_DOUBLE_EQ(price->usd_per_gpu_hour, 2.5);
  EXPECT_EQ(price->source, "prices.csv, line 3: NVIDIA H200");
  EXPECT_DOUBLE_EQ(table.find({}, {"NVIDIA L40S"})->usd_per_gpu_hour, 1.8);
  EXPECT_NE(why_not(table, {}, {"NVIDIA L40"}).find("no price of NVIDIA L40"), std::string::npos);
  EXPECT_FALSE(table.find({}, {}).has_value());
}

TEST(PriceTable, AnUnclearPriceIsNone) {
  const PriceTable table = table_of(kOwn);
  EXPECT_NE(why_not(table, {}, {"NVIDIA L4"}).find("choose with --region, such as here, there"),
            std::string::npos);
  EXPECT_DOUBLE_EQ(table.find({.region = "there"}, {"NVIDIA L4"})->usd_per_gpu_hour, 0.9);
  EXPECT_NE(why_not(table, {.region = "mars"}, {"NVIDIA L4"}).find("in mars; it has here, there"),
            std::string::npos);
  EXPECT_NE(why_not(table, {}, {"NVIDIA H200", "NVIDIA L40S"}).find("several kinds"),
            std::string::npos);
  EXPECT_FALSE(table.find({}, {"NVIDIA H200", "NVIDIA T4"}).has_value());
}

TEST(PriceTable, SharesAnInstanceAmongItsGpus) {
  const PriceTable table = table_of(kCatalog);
  EXPECT_NE(why_not(table, {}, {"NVIDIA H100 80GB HBM3"}).find("--instance"), std::string::npos);
  const auto price =
      table.find({.instance = "p5.48xlarge", .region = "us-east-1"}, {"NVIDIA H100 80GB HBM3"});
  ASSERT_TRUE(price.has_value());
  EXPECT_DOUBLE_EQ(price->usd_per_gpu_hour, 12.29);
  EXPECT_EQ(price->source, "prices.csv, line 2: p5.48xlarge in us-east-1, shared among 8 GPUs");
  EXPECT_NE(why_not(table, {.instance = "p5.48xlarge"}, {}).find("--region"), std::string::npos);
  EXPECT_DOUBLE_EQ(
      table.find({.instance = "p5.48xlarge", .region = "us-east-1b", .spot = true}, {})
          ->usd_per_gpu_hour,
      3.9);
  // No spot price there: missing, not free.
  EXPECT_NE(why_not(table, {.instance = "p5.48xlarge", .region = "eu-north-1", .spot = true}, {})
                .find("no spot price"),
            std::string::npos);
  EXPECT_NE(why_not(table, {.instance = "m5.large"}, {}).find("has no GPUs"), std::string::npos);
  EXPECT_NE(why_not(table, {.instance = "p6"}, {}).find("no price of p6"), std::string::npos);
}

TEST(PriceTable, AShareOfAGpuHasNoPriceOfAGpu) {
  const PriceTable table = table_of(
      "InstanceType,AcceleratorName,AcceleratorCount,Price\nNV6,A10,0.167,0.45\nNV36,A10,1,3.2\n");
  EXPECT_NE(why_not(table, {.instance = "NV6"}, {}).find("NV6 (line 2) has 0.167 of a GPU"),
            std::string::npos);
  EXPECT_DOUBLE_EQ(table.find({.instance = "NV36"}, {})->usd_per_gpu_hour, 3.2);
}

TEST(PriceTable, SeveralPricesNameTheirLines) {
  const PriceTable table = table_of("gpu,usd_per_hour\nA,1\nB,1\nA,2\n");
  EXPECT_NE(why_not(table, {}, {"A"}).find("1 and 2 USD per GPU-hour (lines 2 and 4)"),
            std::string::npos);
}

TEST(PriceTable, MistakesNameTheirLine) {
  EXPECT_EQ(error_of("gpu,usd_per_hour\nA,1\nB,cheap\n"),
            "prices.csv:3: usd_per_hour 'cheap' is no price in USD");
  EXPECT_EQ(error_of("gpu,usd_per_hour\nA,1\n\nB,-1\n"),
            "prices.csv:4: usd_per_hour '-1' is no price in USD");
  EXPECT_NE(error_of("gpu,usd_per_hour\nB,nan\n").find("prices.csv:2"), std::string::npos);
  EXPECT_NE(error_of("gpu,usd_per_hour\nB,0\n").find("prices.csv:2"), std::string::npos);
  EXPECT_NE(error_of("gpu,usd_per_hour,gpus\nA,1,0\n").find("no number of GPUs"),
            std::string::npos);
  EXPECT_EQ(error_of("gpu,usd_per_hour,gpus\nA,1,1\nB,1,0.5\n"),
            "prices.csv:3: gpus '0.5' is no whole number of GPUs");
  EXPECT_NE(error_of("gpu,usd_per_hour,gpu\nA,1,B\n")
                .find("prices.csv:1: has the column 'gpu' more than once"),
            std::string::npos);
  EXPECT_EQ(error_of("note,gpu,usd_per_hour,note\na,A,1,b\n"), "");
  EXPECT_EQ(error_of("gpu,usd_per_hour\nA,1,2\n"),
            "prices.csv:2: has 3 cells where the header has 2");
  EXPECT_EQ(error_of("gpu,usd_per_hour\n\"A,1\n"), "prices.csv:2: a quote does not end");
  EXPECT_NE(error_of("name,price\nA,1\n").find("prices.csv:1: has no column 'gpu'"),
            std::string::npos);
  EXPECT_NE(error_of("").find("holds no header"), std::string::npos);
  EXPECT_NE(error_of("gpu,usd_per_hour\n,1\n").find("neither a GPU nor an instance"),
            std::string::npos);
}

TEST(CsvTable, TakesQuotesBlanksAndLineEnds) {
  const auto table = parse_csv("\xEF\xBB\xBF a , b\r\n\"x \"\"y\"\",\nz\", 2 \r\n#c\n\n3,\n", "f");
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->column("b"), 1);
  EXPECT_EQ(table->column("c"), -1);
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0].cells[0], "x \"y\",\nz");
  EXPECT_EQ(table->rows[0].cells[1], "2");
  EXPECT_EQ(table->rows[1].line, 6);
  EXPECT_EQ(table->rows[1].cells[1], "");
}

// Whatever a file holds, reading it ends, and rows keep the number of their cells.
TEST(CsvTable, AnyTextIsATableOrAnError) {
  std::mt19937_64 random(11);
  constexpr std::string_view kLetters = "ab1.,,,\"\"\n\r #-";
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 2 == 0 ? "gpu,usd_per_hour\n" : "";
    const std::size_t length = random() % 60;
    for (std::size_t i = 0; i < length; ++i) text += kLetters[random() % kLetters.size()];
    if (const auto table = parse_csv(text, "f")) {
      for (const CsvRow& row : table->rows) EXPECT_EQ(row.cells.size(), table->header.size());
    }
    if (const auto prices = PriceTable::parse(text, "f")) {
      for (const PriceRow& row : prices->rows()) {
        EXPECT_GE(row.usd.value_or(row.gpus), row.gpus * kLowestPrice);
      }
    }
  }
}

}  // namespace
}  // namespace pyrometer::cost
