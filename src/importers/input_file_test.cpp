// Files, folders and archives of traces, from the path to the ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "importers/importer.h"
#include "importers/input_list.h"
#include "importers/rank_assignment.h"
#include "tests/support/pack.h"
#include "tests/support/timeline_text.h"
#include "tests/support/trace_text.h"

namespace pyrometer::importers {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryFolder;
using testing::trace_of;
using testing::write_file;

std::string rank_trace(int rank, const char* name = "aten::mm") {
  return trace_of({testing::op_event(name, "1", "2")},
                  "\"distributedInfo\": {\"rank\": " + std::to_string(rank) + "}");
}

std::string plain_trace(const char* name = "aten::mm") {
  return trace_of({testing::op_event(name, "1", "2")});
}

base::Result<model::Timeline> import(const std::vector<std::string>& paths, unsigned threads = 2) {
  ImportOptions options;
  options.threads = threads;
  return import_paths(paths, options);
}

// "rank:first operator", in order.
std::vector<std::string> ranks_of(const base::Result<model::Timeline>& timeline) {
  if (!timeline) return {timeline.error().to_string()};
  std::vector<std::string> out;
  for (const model::RankTimeline& t : timeline->ranks) {
    out.push_back(std::to_string(t.info.rank) + ":" + std::string(t.name(t.host_ops.name[0])));
  }
  return out;
}

TEST(ImportPaths, ContentDecidesWhatAFileIs) {
  const TemporaryFolder folder;
  const std::string text = plain_trace();
  // Names lie on purpose.
  write_file(folder / "a.json", testing::gzip(text));
  write_file(folder / "b.gz", text);
  write_file(folder / "c.zst", testing::xz(text));
  write_file(folder / "d", testing::zstd(text));
  write_file(folder / "e", testing::gzip(testing::zstd(text)));
  for (const char* name : {"a.json", "b.gz", "c.zst", "d", "e"}) {
    EXPECT_THAT(ranks_of(import({folder / name})), ElementsAre("0:aten::mm")) << name;
  }
}

TEST(ImportPaths, ArchivesOfRanks) {
  const TemporaryFolder folder;
  const testing::Members members = {{"run/readme.txt", "hello"},
                                    {"run/r1.json", rank_trace(1, "one")},
                                    {"run/r0.json.gz", testing::gzip(rank_trace(0, "zero"))}};
  write_file(folder / "a.tar", testing::tar(members));
  write_file(folder / "a.tgz", testing::gzip(testing::tar(members)));
  write_file(folder / "a.tar.zst", testing::zstd(testing::tar(members)));
  write_file(folder / "a.zip", testing::zip(members));
  for (const char* name : {"a.tar", "a.tgz", "a.tar.zst", "a.zip"}) {
    const auto timeline = import({folder / name});
    EXPECT_THAT(ranks_of(timeline), ElementsAre("0:zero", "1:one")) << name;
    ASSERT_TRUE(timeline.has_value());
    EXPECT_EQ(timeline->ranks[1].info.file, folder / name + ":run/r1.json");
    EXPECT_THAT(timeline->notes, Contains(HasSubstr("run/readme.txt: ")));
  }
}

TEST(ImportPaths, ATruncatedArchiveGivesWhatItHas) {
  const TemporaryFolder folder;
  const std::string tar = testing::tar(
      {{"r0.json", rank_trace(0, "zero")}, {"r1.json", trace_of(testing::sample_events(200))}});
  write_file(folder / "a.tar", tar.substr(0, tar.size() / 2));
  const auto timeline = import({folder / "a.tar"});
  ASSERT_TRUE(timeline.has_value());
  ASSERT_EQ(timeline->ranks.size(), 2U);
  EXPECT_THAT(testing::counter_lines(timeline->ranks[1]), Contains("damaged_input=1"));
  EXPECT_TRUE(timeline->ranks[1].stats.lost_data());
  EXPECT_THAT(timeline->ranks[1].stats.counters()[0].help, HasSubstr("ends early"));
}

TEST(ImportPaths, ADamagedHeaderInAnArchiveIsDataLoss) {
  const TemporaryFolder folder;
  std::string tar = testing::tar({{"r0.json", rank_trace(0, "zero")},
                                  {"r1.json", rank_trace(1, "one")},
                                  {"r2.json", rank_trace(2, "two")}});
  const std::size_t second = tar.find("r1.json");
  tar[second + 3] = '\x01';
  write_file(folder / "a.tar", tar);
  const auto timeline = import({folder / "a.tar"});
  EXPECT_THAT(ranks_of(timeline), ElementsAre("0:zero", "1:one", "2:two"));
  ASSERT_TRUE(timeline.has_value());
  EXPECT_TRUE(timeline->ranks[0].stats.lost_data());
  EXPECT_THAT(testing::counter_lines(timeline->ranks[0]), Contains("damaged_archive=1"));
  EXPECT_THAT(timeline->notes, Contains(HasSubstr("a.tar: byte " + std::to_string(second) +
                                                  ": the header of the member")));
}

TEST(ImportPaths, DamagedMembersAreReadAsFarAsTheyGo) {
  const TemporaryFolder folder;
  const std::string text = trace_of(testing::sample_events(2000));
  for (const bool packed : {false, true}) {
    const testing::Members members = {
        {"r0.json", rank_trace(0, "zero")},
        {packed ? "r1.json.gz" : "r1.json", packed ? testing::gzip(text) : text}};
    for (const std::string& archive : {testing::tar(members), testing::zip(members)}) {
      write_file(folder / "a", archive.substr(0, archive.size() * 2 / 3));
      const auto timeline = import({folder / "a"});
      ASSERT_TRUE(timeline.has_value()) << timeline.error().to_string();
      ASSERT_EQ(timeline->ranks.size(), 2U);
      const model::RankTimeline& cut = timeline->ranks[1];
      EXPECT_GT(cut.info.event_count, 2000 * 13 / 2);
      EXPECT_TRUE(cut.stats.lost_data());
      const auto& counters = cut.stats.counters();
      const auto at = std::find_if(counters.begin(), counters.end(),
                                   [](const auto& c) { return c.kind == "damaged_input"; });
      ASSERT_NE(at, counters.end());
      EXPECT_THAT(at->help, HasSubstr("ends early"));
      EXPECT_THAT(at->help, HasSubstr("at byte "));
    }
  }
}

TEST(ImportPaths, BytesBehindGzipAreNoDataLoss) {
  const TemporaryFolder folder;
  write_file(folder / "a.json.gz", testing::gzip(plain_trace()) + "garbage");
  const auto timeline = import({folder / "a.json.gz"});
  ASSERT_TRUE(timeline.has_value());
  EXPECT_THAT(testing::counter_lines(timeline->ranks[0]), ElementsAre("trailing_bytes=1"));
  EXPECT_FALSE(timeline->ranks[0].stats.lost_data());
  EXPECT_THAT(timeline->ranks[0].stats.counters()[0].help,
              HasSubstr("7 bytes after the end of the gzip data ignored"));
}

TEST(ImportPaths, WhatIsNoTraceIsNamed) {
  const TemporaryFolder folder;
  const auto message_of = [&](const std::string& content) {
    write_file(folder / "x", content);
    const auto timeline = import({folder / "x"});
    return timeline ? std::string("imported") : timeline.error().to_string();
  };
  std::string wide;
  for (const char c : plain_trace()) wide += {c, '\0'};
  EXPECT_THAT(message_of(wide), HasSubstr("text in UTF-16"));
  EXPECT_THAT(message_of("\xFF\xFE" + wide), HasSubstr("iconv -f UTF-16 -t UTF-8"));
  EXPECT_THAT(message_of(std::string(1, '\0') + wide), HasSubstr("text in UTF-16"));
  EXPECT_THAT(message_of(testing::zip({})), HasSubstr("the archive is empty"));
  EXPECT_THAT(message_of(testing::tar({{"folder/", ""}})), HasSubstr("the archive is empty"));
  EXPECT_THAT(message_of(testing::tar({})), HasSubstr("empty tar archive"));
  EXPECT_THAT(message_of(testing::tar({{"a.txt", "hello"}, {"b.txt", "there"}})),
              HasSubstr("none of the 2 files in the archive is a trace; the first is a.txt: not "
                        "JSON"));
}

TEST(ImportPaths, ATruncatedGzipGivesWhatItHas) {
  const TemporaryFolder folder;
  const std::string packed = testing::gzip(trace_of(testing::sample_events(500)));
  write_file(folder / "a.json.gz", packed.substr(0, packed.size() * 3 / 4));
  for (const unsigned threads : {1U, 3U}) {
    const auto timeline = import({folder / "a.json.gz"}, threads);
    ASSERT_TRUE(timeline.has_value());
    EXPECT_GT(timeline->ranks[0].activities.size(), 200U);
    EXPECT_LT(timeline->ranks[0].activities.size(), 2000U);
    EXPECT_THAT(testing::counter_lines(timeline->ranks[0]), Contains("damaged_input=1"));
  }
  write_file(folder / "b.json.gz", packed.substr(0, 15));
  const auto nothing = import({folder / "b.json.gz"});
  ASSERT_FALSE(nothing.has_value());
  EXPECT_EQ(nothing.error().kind, base::ErrorKind::kDamaged);
  EXPECT_THAT(nothing.error().message, HasSubstr("ends early"));
  EXPECT_EQ(nothing.error().file, folder / "b.json.gz");
}

TEST(ImportPaths, DamagedContainersEndInAResultOrAnError) {
  const TemporaryFolder folder;
  const std::string text = trace_of(testing::sample_events(20));
  const testing::Members members = {{"r0.json", text}, {"r1.json.gz", testing::gzip(text)}};
  const std::vector<std::string> packed = {
      testing::gzip(text),   testing::zstd(text),   testing::xz(text),
      testing::tar(members), testing::zip(members), testing::gzip(testing::tar(members))};
  std::mt19937 random(17);
  for (const std::string& whole : packed) {
    for (int round = 0; round < 40; ++round) {
      std::string damaged = whole;
      for (std::size_t n = 1 + random() % 3; n > 0; --n) {
        damaged[random() % damaged.size()] = static_cast<char>(random());
      }
      if (round % 4 == 0) damaged.resize(random() % damaged.size());
      write_file(folder / "x", damaged);
      const auto timeline = import({folder / "x"}, 1 + round % 2);
      if (!timeline) {
        EXPECT_FALSE(timeline.error().message.empty());
        EXPECT_EQ(timeline.error().file.substr(0, (folder / "x").size()), folder / "x");
        continue;
      }
      for (const model::RankTimeline& t : timeline->ranks) EXPECT_GT(t.info.event_count, 0);
    }
  }
}

TEST(ImportPaths, FoldersAreSearched) {
  const TemporaryFolder folder;
  write_file(folder / "rank2.json", plain_trace("two"));
  write_file(folder / "rank10.json.gz", testing::gzip(plain_trace("ten")));
  write_file(folder / "deep/er/rank3.json.tmp", plain_trace("three"));
  write_file(folder / "rank2.json.tmp", plain_trace("not finished"));
  write_file(folder / "config.json", R"({"lr": 0.1})");
  write_file(folder / "model.pt", "\x80\x02");
  write_file(folder / "notes.txt", "hello");
  const auto timeline = import({folder.path()});
  EXPECT_THAT(ranks_of(timeline), ElementsAre("2:two", "3:three", "10:ten"));
  ASSERT_TRUE(timeline.has_value());
  EXPECT_THAT(timeline->notes, Contains(HasSubstr("3 ranks known from the file name")));
  EXPECT_THAT(timeline->notes, Contains(HasSubstr("rank2.json.tmp: passed over")));
  EXPECT_THAT(timeline->notes, Contains(HasSubstr("config.json: ")));
  EXPECT_THAT(timeline->notes, Contains(HasSubstr("2 files passed over by name (model.pt, …)")));
}

TEST(ImportPaths, ErrorsNameTheirFile) {
  const TemporaryFolder folder;
  write_file(folder / "empty.json", "");
  write_file(folder / "config.json", R"({"lr": 0.1})");
  write_file(folder / "only/notes.txt", "hello");
  const auto kind_of = [&](const std::string& path) {
    const auto timeline = import({path});
    EXPECT_FALSE(timeline.has_value()) << path;
    if (timeline) return base::ErrorKind::kIo;
    EXPECT_EQ(timeline.error().file, path);
    EXPECT_FALSE(timeline.error().advice.empty()) << path;
    return timeline.error().kind;
  };
  EXPECT_EQ(kind_of(folder / "empty.json"), base::ErrorKind::kEmpty);
  EXPECT_EQ(kind_of(folder / "config.json"), base::ErrorKind::kFormat);
  EXPECT_EQ(kind_of(folder / "only"), base::ErrorKind::kEmpty);
  EXPECT_EQ(kind_of(folder / "absent.json"), base::ErrorKind::kNotFound);
  EXPECT_EQ(kind_of(folder / "empty.json/x"), base::ErrorKind::kNotFound);
  EXPECT_EQ(import({}).error().kind, base::ErrorKind::kUsage);
  EXPECT_EQ(import({"-", "-"}).error().kind, base::ErrorKind::kUsage);
}

// On a process that has given up root's rights, if it had them.
TEST(ImportPaths, NoPermission) {
  constexpr unsigned kNobody = 65534;
  const TemporaryFolder folder;
  write_file(folder / "a.json", plain_trace());
  ::chmod(folder.path().c_str(), 0755);  // the file alone shall be the matter
  ::chmod((folder / "a.json").c_str(), 0);
  const auto try_it = [&folder] {
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);
    const auto timeline = import({folder / "a.json"});
    ::_exit(!timeline && timeline.error().kind == base::ErrorKind::kPermission ? 0 : 1);
  };
  EXPECT_EXIT(try_it(), ::testing::ExitedWithCode(0), "");
}

TEST(ImportPaths, OneBadFileAmongGoodOnesIsNoted) {
  const TemporaryFolder folder;
  write_file(folder / "rank0.json", plain_trace("zero"));
  write_file(folder / "rank1.json", "");
  const auto timeline = import({folder / "rank0.json", folder / "rank1.json"});
  EXPECT_THAT(ranks_of(timeline), ElementsAre("0:zero"));
  EXPECT_THAT(timeline->notes, Contains(HasSubstr("rank1.json: the file is empty")));
}

TEST(Ranks, FromTheFileName) {
  EXPECT_EQ(rank_in_name("/rank9/rank-3.Jul_15.1074.pt.trace.json.gz"), 3);
  EXPECT_EQ(rank_in_name("ddp.rank12.trace.json"), 12);
  EXPECT_EQ(rank_in_name("Rank_7.json"), 7);
  EXPECT_EQ(rank_in_name("worker0_step_12.1694128201545.pt.trace.json"), 0);
  EXPECT_EQ(rank_in_name("node1_3.pt.trace.json"), 3);
  EXPECT_EQ(rank_in_name("trace_5.json.gz"), 5);
  EXPECT_EQ(rank_in_name("archive.tar:run/rank4.json"), 4);
  EXPECT_EQ(rank_in_name("host_1074.1694128201545.pt.trace.json"), std::nullopt);
  EXPECT_EQ(rank_in_name("trace.json"), std::nullopt);
  EXPECT_EQ(rank_in_name("frank.json"), std::nullopt);
  EXPECT_EQ(rank_in_name("libkineto_activities_1694128201545.json"), std::nullopt);
}

TEST(Ranks, ByOrderWhereNothingNamesThem) {
  const TemporaryFolder folder;
  write_file(folder / "b.json", plain_trace("b"));
  write_file(folder / "a.json", plain_trace("a"));
  const auto timeline = import({folder / "b.json", folder / "a.json"});
  EXPECT_THAT(ranks_of(timeline), ElementsAre("0:b", "1:a"));
  EXPECT_EQ(timeline->ranks[0].info.source, model::RankSource::kOrder);
  EXPECT_THAT(timeline->notes, Contains(HasSubstr("2 ranks numbered by the order of the files")));
  const auto single = import({folder / "a.json"});
  EXPECT_EQ(single->ranks[0].info.source, model::RankSource::kSingle);
}

TEST(Ranks, TwoThatClaimTheSame) {
  const TemporaryFolder folder;
  write_file(folder / "a.json", rank_trace(0, "a"));
  write_file(folder / "b.json",
             trace_of({testing::op_event("b", "5", "6")}, "\"distributedInfo\": {\"rank\": 0}"));
  write_file(folder / "c.json", rank_trace(0, "a"));  // the same as the first
  const auto timeline = import({folder / "a.json", folder / "b.json", folder / "c.json"});
  EXPECT_THAT(ranks_of(timeline), ElementsAre("0:a", "1:b"));
  EXPECT_THAT(timeline->notes, Contains(HasSubstr("b.json: says it is rank 0")));
  EXPECT_THAT(timeline->notes, Contains(HasSubstr("c.json: left out")));
}

TEST(Ranks, DocumentsOfOneFile) {
  const TemporaryFolder folder;
  write_file(folder / "all.json", rank_trace(1, "one") + rank_trace(0, "zero"));
  const auto timeline = import({folder / "all.json"});
  EXPECT_THAT(ranks_of(timeline), ElementsAre("0:zero", "1:one"));
  EXPECT_EQ(timeline->ranks[0].info.file, folder / "all.json" + "#2");
}

TEST(NaturalOrder, ComparesNumbersAsNumbers) {
  EXPECT_TRUE(natural_less("rank2.json", "rank10.json"));
  EXPECT_FALSE(natural_less("rank10.json", "rank2.json"));
  EXPECT_TRUE(natural_less("a", "b"));
  EXPECT_TRUE(natural_less("a1b", "a1c"));
  EXPECT_TRUE(natural_less("a", "a1"));
  EXPECT_TRUE(natural_less("a01", "a1") != natural_less("a1", "a01"));
  EXPECT_FALSE(natural_less("x", "x"));
}

TEST(Progress, CountsBytes) {
  const TemporaryFolder folder;
  const std::string text = plain_trace();
  write_file(folder / "a.json", text);
  write_file(folder / "b.json.gz", testing::gzip(text));
  Progress progress;
  ImportOptions options;
  options.progress = &progress;
  ASSERT_TRUE(import_paths({folder / "a.json", folder / "b.json.gz"}, options).has_value());
  EXPECT_EQ(progress.bytes_done, static_cast<std::int64_t>(2 * text.size()));
  EXPECT_EQ(progress.bytes_total, static_cast<std::int64_t>(2 * text.size()));
}

}  // namespace
}  // namespace pyrometer::importers
