#include "tui/process_list.h"

#include <gtest/gtest.h>

#include "tui/tui_testing.h"

namespace pyrometer::tui {
namespace {

constexpr double kGib = 1 << 30;

class ProcessList : public ::testing::Test {
 protected:
  ProcessList() : seen_(2) {
    seen_.snapshot->devices[0].processes = {test_process(10, "bob", "train", 2 * kGib),
                                            test_process(11, "ada", "serve", 4 * kGib)};
    seen_.snapshot->devices[1].processes = {test_process(12, "ada", "jupyter", 1 * kGib)};
  }
  std::vector<int> pids(const Ui& ui) {
    std::vector<int> out;
    for (const ProcessRow& row : list_processes(seen_.sight, ui)) out.push_back(row.id.pid);
    return out;
  }
  TestSight seen_;
};

using Pids = std::vector<int>;

TEST_F(ProcessList, SortsByAnyColumn) {
  EXPECT_EQ(pids({}), (Pids{10, 11, 12}));
  EXPECT_EQ(pids({.sort = SortKey::kMemory, .descending = true}), (Pids{11, 10, 12}));
  EXPECT_EQ(pids({.sort = SortKey::kUser}), (Pids{11, 12, 10}));
  EXPECT_EQ(pids({.sort = SortKey::kProgram, .descending = true}), (Pids{10, 11, 12}));
  EXPECT_EQ(pids({.sort = SortKey::kPid, .descending = true}), (Pids{12, 11, 10}));
}

TEST_F(ProcessList, PutsMissingValuesLastEitherWay) {
  seen_.snapshot->devices[0].processes[0].memory =
      readout::Value::missing(sources::Absence::kNotAvailable);
  EXPECT_EQ(pids({.sort = SortKey::kMemory, .descending = true}), (Pids{11, 12, 10}));
  EXPECT_EQ(pids({.sort = SortKey::kMemory}), (Pids{12, 11, 10}));
}

TEST_F(ProcessList, FiltersWithoutRegardToCase) {
  EXPECT_EQ(pids({.filter = "ADA"}), (Pids{11, 12}));
  EXPECT_EQ(pids({.filter = "train"}), (Pids{10}));
  EXPECT_EQ(pids({.filter = "12"}), (Pids{12}));
  EXPECT_EQ(pids({.filter = "nobody"}), (Pids{}));
}

TEST_F(ProcessList, ShowsWhoStartedSeveral) {
  seen_.start(10, 5);
  seen_.start(11, 6);  // one child alone is no news
  seen_.start(6, 5);
  seen_.start(5, 1);
  seen_.start(12, 1);
  const auto rows = list_processes(seen_.sight, {.tree = true});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].id.pid, 5);
  EXPECT_EQ(rows[0].process, nullptr);
  EXPECT_EQ(program_of(rows[0]), "p5");
  EXPECT_EQ(rows[1].id.pid, 10);
  EXPECT_EQ(rows[1].depth, 1);
  EXPECT_EQ(rows[2].id.pid, 11);
  EXPECT_EQ(rows[2].depth, 1);
  EXPECT_EQ(rows[3].id.pid, 12);
  EXPECT_EQ(rows[3].depth, 0);
}

TEST_F(ProcessList, BearsACircleOfParents) {
  seen_.start(10, 11);
  seen_.start(11, 10);
  static_cast<void>(list_processes(seen_.sight, {.tree = true}));
}

}  // namespace
}  // namespace pyrometer::tui
