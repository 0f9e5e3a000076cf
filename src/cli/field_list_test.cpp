#include "cli/field_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pyrometer::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string problem(std::string_view text) {
  std::vector<readout::Field> fields;
  return parse_field_list(text, fields);
}

TEST(FieldList, IsSplitAtCommas) {
  EXPECT_THAT(split_list("a, b ,c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split_list(""), ElementsAre(""));
  EXPECT_THAT(split_list("a,"), ElementsAre("a", ""));
}

TEST(FieldList, TakesNamesOfBothKinds) {
  std::vector<readout::Field> fields;
  EXPECT_EQ(parse_field_list("index, gpu.sm_active,index", fields), "");
  ASSERT_EQ(fields.size(), 3);
  EXPECT_EQ(fields[1].name, "gpu.sm_active");
}

TEST(FieldList, SuggestsNearNames) {
  EXPECT_EQ(problem("index,,name"), "a field is empty");
  EXPECT_THAT(problem("temprature.gpu"), HasSubstr("did you mean temperature.gpu"));
  EXPECT_THAT(problem("gpu.utilization"), HasSubstr("utilization.gpu"));
  EXPECT_THAT(problem("mem_used"), HasSubstr("memory.used"));
  EXPECT_EQ(problem("qqqqqqqq"), "no field is called 'qqqqqqqq'");
}

TEST(FieldReference, NamesEveryField) {
  const std::string page = field_reference(100, true, false);
  for (const readout::Field& field : readout::all_fields()) {
    EXPECT_THAT(page, HasSubstr(std::string(field.name)));
  }
}

}  // namespace
}  // namespace pyrometer::cli
