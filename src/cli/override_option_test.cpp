#include "cli/override_option.h"

#include <gmock/gmock.h>

#include "model/overrides.h"

namespace pyrometer::cli {
namespace {

using model::Override;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string problem(std::string_view text) {
  std::vector<Override> overrides;
  std::string said = parse_override(text, overrides);
  EXPECT_EQ(said.empty(), !overrides.empty());
  return said;
}

TEST(ParseOverride, TakesIdsAndValues) {
  std::vector<Override> overrides;
  EXPECT_EQ(parse_override("loader.workers=4", overrides), "");
  EXPECT_EQ(parse_override("precision.tf32", overrides), "");
  EXPECT_EQ(parse_override("loader.workers=4", overrides), "");
  EXPECT_EQ(parse_override("loader.workers=auto", overrides),
            "is given twice, first as 4: one value at a time");
  EXPECT_EQ(parse_override("env.NCCL_ALGO=Ring", overrides), "");
  EXPECT_THAT(overrides,
              ElementsAre(Override{"loader.workers", "4"}, Override{"precision.tf32", "on"},
                          Override{"env.NCCL_ALGO", "Ring"}));
}

TEST(ParseOverride, SaysWhatIsWrong) {
  EXPECT_EQ(problem("loader.worker=4"), "is no override (did you mean loader.workers?)");
  EXPECT_EQ(problem("workers=4"), "is no override (did you mean loader.workers?)");
  EXPECT_THAT(problem("sleep"), HasSubstr("is no override: docs/"));
  EXPECT_THAT(problem(""), HasSubstr("is no override"));
  EXPECT_EQ(problem("loader.workers=-1"),
            "has a value that is not a whole number from 0 to 128, or auto");
  EXPECT_EQ(problem("loader.workers=4x"),
            "has a value that is not a whole number from 0 to 128, or auto");
  EXPECT_EQ(problem("precision.autocast=int8"), "has a value that is not bf16 or fp16");
  EXPECT_THAT(problem("env.NCCL_ALGO"), HasSubstr("has no value: Ring, "));
  EXPECT_THAT(problem("precision.tf32="), HasSubstr("has no value: on or off"));
  EXPECT_EQ(problem("env.CUDA_LAUNCH_BLOCKING=1"), "has a value that is not 0");
  EXPECT_EQ(problem("allocator=expandable_segments:True,max_split_size_mb:128"), "");
}

// As torch's own parser would say it, but before the training runs.
TEST(ParseOverride, SettingsOfTheAllocator) {
  EXPECT_EQ(problem("allocator=max_split_size_mb:abc"),
            "has a value whose max_split_size_mb is not a whole number of MB above 20");
  for (const char* good :
       {"max_split_size_mb:21", "garbage_collection_threshold:0.8", "backend:cudaMallocAsync",
        "roundup_power2_divisions:4", "roundup_power2_divisions:[256:1,512:2,>:4],backend:native",
        "expandable_segments:False,max_split_size_mb:128"}) {
    EXPECT_EQ(problem(std::string("allocator=") + good), "") << good;
  }
  for (const char* bad :
       {"max_split_size_mb:20", "max_split_size_mb:-1", "max_split_size_mb:1.5",
        "max_split_size_mb:99999999999", "garbage_collection_threshold:1",
        "garbage_collection_threshold:0", "garbage_collection_threshold:nan",
        "roundup_power2_divisions:3", "roundup_power2_divisions:[256:1",
        "roundup_power2_divisions:[]", "roundup_power2_divisions:[300:1]", "backend:mine",
        "expandable_segments:true", "expandable_segments", "expandable_segments:True;x",
        "expandable_segments:True,", "sleep:1", "backend:native,backend:native"}) {
    EXPECT_THAT(problem(std::string("allocator=") + bad), HasSubstr("has a value ")) << bad;
  }
}

TEST(Overrides, EveryDefaultIsAValueAndEveryEditIsFilledIn) {
  for (const model::OverrideInfo& info : model::override_table()) {
    if (!info.default_value.empty()) {
      EXPECT_TRUE(model::takes_value(info, info.default_value)) << info.id;
    }
    for (const std::string_view word : info.words) {
      if (info.kind == model::OverrideKind::kSettings) continue;
      EXPECT_TRUE(model::takes_value(info, word)) << info.id;
      const std::string edit = model::edit_for(info, word);
      EXPECT_THAT(edit, ::testing::Not(HasSubstr("{"))) << info.id;
      EXPECT_THAT(edit, ::testing::Not(IsEmpty())) << info.id;
      EXPECT_THAT(edit, ::testing::Not(::testing::ContainsRegex("[=(]auto"))) << info.id;
    }
    // What separates overrides in the environment is in no value.
    EXPECT_FALSE(model::takes_value(info, "a;b")) << info.id;
  }
  const model::OverrideInfo* autocast = model::find_override("precision.autocast");
  ASSERT_NE(autocast, nullptr);
  EXPECT_THAT(model::edit_for(*autocast, "fp16"), HasSubstr("dtype=torch.float16"));
}

}  // namespace
}  // namespace pyrometer::cli
