// Our import against HTA's figures, trace by trace: the same definitions must give the same
// numbers.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "importers/importer.h"
#include "tests/reference/hta_view.h"
#include "tests/reference/ledger.h"
#include "tests/reference/reference_cases.h"
#include "tests/support/analysed_job.h"
#include "tests/support/shared.h"

namespace pyrometer::testing {
namespace {

using nlohmann::json;

// HTA computes in doubles, from µs: a figure may be off by 1 µs or 0.01 %, whichever is more.
constexpr double kAbsoluteUs = 1.0;
constexpr double kRelative = 1e-4;

void expect_near(double ours, double theirs, const std::string& what) {
  EXPECT_NEAR(ours, theirs, std::max(kAbsoluteUs, kRelative * std::abs(theirs))) << what;
}

class Reference : public ::testing::TestWithParam<ReferenceCase> {
 protected:
  void SetUp() override {
    const ReferenceCase& c = GetParam();
    const std::filesystem::path folder = std::filesystem::path(shared_dir()) / "traces" / c.folder;
    const auto reference = folder / "reference" / (std::string(c.name) + ".json");
    for (const std::string& file : c.files()) paths_.push_back((folder / file).string());
    if (!std::filesystem::exists(reference) || !std::filesystem::exists(paths_.front())) {
      GTEST_SKIP() << c.name << ": no reference material under " << folder;
    }
    theirs_ = json::parse(std::ifstream(reference));
    auto timeline = importers::import_paths(paths_, {});
    ASSERT_TRUE(timeline.has_value()) << timeline.error().to_string();
    timeline_ = std::move(*timeline);
    ASSERT_EQ(timeline_.ranks.size(), paths_.size());
    for (const model::RankTimeline& rank : timeline_.ranks) {
      rows_[rank.info.rank] = hta_rows(rank, c.options);
    }
  }

  std::vector<std::string> paths_;
  json theirs_;
  model::Timeline timeline_;
  std::map<std::int32_t, std::vector<HtaRow>> rows_;  // by rank
};

TEST_P(Reference, Temporal) {
  if (!theirs_.contains("temporal_us")) {
    for (const auto& [rank, rows] : rows_) EXPECT_TRUE(rows.empty());
    return;
  }
  ASSERT_EQ(theirs_["temporal_us"].size(), rows_.size());
  for (const json& row : theirs_["temporal_us"]) {
    const HtaTemporal ours = hta_temporal(rows_.at(row["rank"].get<int>()));
    expect_near(ours.kernel_time, row["kernel_time(us)"], "kernel time");
    expect_near(ours.idle, row["idle_time(us)"], "idle");
    expect_near(ours.compute, row["compute_time(us)"], "compute");
    expect_near(ours.non_compute, row["non_compute_time(us)"], "non-compute");
  }
}

TEST_P(Reference, ClassesAndTheirOverlaps) {
  std::map<std::string, HtaTypeTime> ours;
  for (const auto& [rank, rows] : rows_) {
    for (const auto& [name, time] : hta_type_times(rows)) {
      ours[name].low_us += time.low_us;
      ours[name].high_us += time.high_us;
    }
  }
  for (const auto& [name, us] : theirs_["kernel_type_us"].items()) {
    const HtaTypeTime& time = ours[name];
    EXPECT_GE(us.get<std::int64_t>(), time.low_us) << name;
    EXPECT_LE(us.get<std::int64_t>(), time.high_us) << name;
  }
  for (const auto& [name, time] : ours) {
    if (!theirs_["kernel_type_us"].contains(name)) {
      EXPECT_EQ(time.low_us, 0) << name;
    }
  }
}

TEST_P(Reference, OverlapOfCommunication) {
  for (const auto& [rank, pct] : theirs_["comm_comp_overlap_pct"].items()) {
    const auto ours = hta_overlap_pct(rows_.at(std::stoi(rank)));
    ASSERT_EQ(ours.has_value(), !pct.is_null()) << rank;
    if (ours) {
      EXPECT_NEAR(*ours, pct.get<double>(), 0.011) << rank;
    }
  }
}

TEST_P(Reference, KernelTotals) {
  double total = 0;
  for (const auto& [rank, rows] : rows_) {
    for (const auto& [kernel, us] : hta_kernel_sums(rows)) total += us;
  }
  expect_near(total, theirs_["kernels_total_us"], "total");
  for (const json& top :
       theirs_["top_kernels_us"]) {  // [name cut to 120 characters, µs, class, rank]
    const auto& rows = rows_.at(top[3].get<int>());
    double nearest = 0;
    for (const auto& [kernel, us] : hta_kernel_sums(rows)) {
      const auto& [name, klass] = kernel;
      const bool same = name.substr(0, 120) == top[0].get<std::string>() &&
                        hta_class_name(klass) == top[2].get<std::string>();
      if (same && std::abs(us - top[1].get<double>()) < std::abs(nearest - top[1].get<double>())) {
        nearest = us;
      }
    }
    expect_near(nearest, top[1], top[0].get<std::string>());
  }
}

TEST_P(Reference, IdlePerStream) {
  if (!theirs_.contains("idle_us")) return;
  using Key = std::pair<std::int32_t, std::string>;  // stream, category
  // HTA takes the first event of the file for the launch of kernels that have none, which the
  // Timeline no longer knows: there, waiting for the host and for the device go together.
  const auto category_of = [&](const std::string& category) {
    const bool waits = category == "host_wait" || category == "kernel_wait";
    return GetParam().kernels_before_the_trace && waits ? std::string("waits") : category;
  };
  for (const auto& [rank, rows] : rows_) {
    std::map<Key, HtaIdle> ours;
    for (const auto& [key, idle] : hta_idle(rows, GetParam().options)) {
      HtaIdle& sum = ours[{key.first, category_of(key.second)}];
      sum.us += idle.us;
      sum.either_us += idle.either_us;
    }
    std::map<Key, double> theirs;
    for (const json& row : theirs_["idle_us"]) {
      if (row["rank"].get<int>() != rank) continue;
      theirs[{row["stream"].get<int>(), category_of(row["idle_category"])}] +=
          row["idle_time"].get<double>();
    }
    for (const auto& [key, us] : theirs) {
      EXPECT_NEAR(ours[key].us, us,
                  std::max(kAbsoluteUs, kRelative * std::abs(us)) + ours[key].either_us)
          << key.second << " on stream " << key.first;
    }
    for (const auto& [key, idle] : ours) {
      if (!theirs.contains(key)) {
        EXPECT_LE(idle.us, kAbsoluteUs + idle.either_us)
            << key.second << " on stream " << key.first;
      }
    }
  }
}

// Every difference between HTA's busy time and the waterfall's is one that was chosen: applied one
// after the other they lead from one to the other, to the nanosecond. With
// --gtest_output=xml:FILE the amounts stand in FILE, as docs/concepts/reference-comparison.md has
// them.
TEST_P(Reference, ChosenDifferencesAddUpToTheWaterfall) {
  const model::JobAnalysis job = analysed_job(timeline_);
  for (std::size_t r = 0; r < timeline_.ranks.size(); ++r) {
    const model::RankTimeline& rank = timeline_.ranks[r];
    ASSERT_LE(job.ranks[r].waterfall.devices.size(), 1U);
    const std::vector<LedgerLine> lines = ledger(rank, job.ranks[r], GetParam().options);
    EXPECT_EQ(lines.back().after, waterfall_times(job.ranks[r].waterfall));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const BusyTimes& t = lines[i].after;
      const std::string key = "rank" + std::to_string(rank.info.rank) + "_" + std::to_string(i);
      RecordProperty(key, lines[i].what + ": busy " + std::to_string(t.busy()) + " compute " +
                              std::to_string(t.compute) + " comm " + std::to_string(t.comm) +
                              " copy " + std::to_string(t.copy) + " other " +
                              std::to_string(t.other));
    }
  }
}

// Names on which HTA's classes go wrong; none of them occurs in the traces above.
TEST(References, NamesThatHtaClassesOtherwise) {
  const auto ours = [](std::string_view name) { return analysis::classify_kernel(name).klass; };
  // hipBLASLt's and hipDNN's kernels count as communication there, custom all-reduces as compute.
  EXPECT_EQ(hta_class("hipblasLt_gemm_kernel"), HtaClass::kCommunication);
  EXPECT_NE(ours("hipblasLt_gemm_kernel"), model::KernelClass::kComm);
  constexpr std::string_view kCustom =
      "void vllm::cross_device_reduce_1stage<__half, 4>(RankData*)";
  EXPECT_EQ(hta_class(kCustom), HtaClass::kComputation);
  EXPECT_EQ(ours(kCustom), model::KernelClass::kComm);
}

// A reference file without a case would be a comparison silently left out.
TEST(References, AllHaveACase) {
  for (const std::string_view folder : {"h200", "public"}) {
    const auto path = std::filesystem::path(shared_dir()) / "traces" / folder / "reference";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
    const std::vector<ReferenceCase> cases = reference_cases();
    for (const auto& file : std::filesystem::directory_iterator(path)) {
      const std::string name = file.path().stem().string();
      EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const ReferenceCase& c) {
        return c.name == name && c.folder == folder;
      })) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, Reference, ::testing::ValuesIn(reference_cases()),
                         [](const auto& test) { return test.param.test_name(); });

}  // namespace
}  // namespace pyrometer::testing
