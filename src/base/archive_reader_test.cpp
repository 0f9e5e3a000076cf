// Archives that are sound, cut off, or damaged in places.
#include "base/archive_reader.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/support/pack.h"

namespace pyrometer::base {
namespace {

struct Contents {
  std::map<std::string, std::string> members;
  std::map<std::string, std::string> errors;  // by member
  std::vector<Error> damage;
  std::string error;  // that ended it
};

Contents read_archive(const std::string& packed, std::size_t piece = 4096) {
  Contents out;
  const auto archive = open_archive(memory_source(packed));
  std::string buffer(piece, '\0');
  while (true) {
    const auto more = archive->next();
    for (Error& e : archive->take_damage()) out.damage.push_back(std::move(e));
    if (!more) out.error = more.error().message;
    if (!more || !*more) return out;
    const auto content = archive->content();
    std::string& text = out.members[archive->name()];
    while (true) {
      const auto got = content->read(buffer.data(), buffer.size());
      if (!got) out.errors[archive->name()] = got.error().to_string();
      if (!got || *got == 0) break;
      text.append(buffer.data(), *got);
    }
  }
}

std::string sample_text(std::size_t size, unsigned seed = 5) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < size) text += "line " + std::to_string(random() % 1000) + "\n";
  return text.substr(0, size);
}

testing::Members three_members() {
  return {{"a.json", sample_text(5000, 1)},
          {"deep/b.json", sample_text(300000, 2)},
          {"c.json", sample_text(7000, 3)}};
}

TEST(Archive, MembersComeInOrder) {
  const std::string long_name = std::string(120, 'n') + "/" + std::string(80, 'm') + ".json";
  const testing::Members members = {{"folder/", ""},
                                    {"folder/a.json", "aaa"},
                                    {long_name, "long"},
                                    {"b.json", sample_text(300000)},
                                    {"empty", ""}};
  for (const std::string& packed : {testing::tar(members), testing::zip(members)}) {
    EXPECT_TRUE(looks_like_archive(packed));
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{1000000}}) {
      const Contents read = read_archive(packed, piece);
      EXPECT_EQ(read.members.size(), members.size() - 1);
      for (std::size_t i = 1; i < members.size(); ++i) {
        EXPECT_EQ(read.members.at(members[i].first), members[i].second);
      }
      EXPECT_TRUE(read.damage.empty());
      EXPECT_TRUE(read.errors.empty());
      EXPECT_EQ(read.error, "");
    }
    const auto unread = open_archive(memory_source(packed));  // members that nobody reads
    std::size_t count = 0;
    while (unread->next().value_or(false)) ++count;
    EXPECT_EQ(count, members.size() - 1);
    EXPECT_TRUE(unread->take_damage().empty());
  }
}

TEST(Archive, ACutOneGivesAllItHas) {
  const testing::Members members = three_members();
  const std::string tar = testing::tar(members);
  const std::size_t cut = 512 + 5120 + 512 + 200000;  // inside the second member
  const Contents read = read_archive(tar.substr(0, cut), 1 << 20);
  EXPECT_EQ(read.members.at("a.json"), members[0].second);
  EXPECT_EQ(read.members.at("deep/b.json"), members[1].second.substr(0, 200000));
  EXPECT_NE(read.errors.at("deep/b.json").find("byte " + std::to_string(cut)), std::string::npos);
  EXPECT_NE(read.errors.at("deep/b.json").find("100000 bytes before the end"), std::string::npos);

  const std::string zip = testing::zip(members);
  for (std::size_t size = zip.size() * 9 / 10; size > 100; size = size * 3 / 4) {
    const Contents part = read_archive(zip.substr(0, size), 1 << 20);
    EXPECT_FALSE(part.errors.empty() && part.damage.empty()) << size;
    for (const auto& [name, text] : part.members) {
      for (const auto& [sound, whole] : members) {
        if (sound == name) {
          EXPECT_EQ(whole.substr(0, text.size()), text);
        }
      }
    }
  }
}

TEST(Archive, ADamagedTarHeaderCostsNothingElse) {
  const testing::Members members = three_members();
  const std::string tar = testing::tar(members);
  const std::size_t second = 512 + 5120;
  std::string flipped = tar;
  flipped[second + 150] ^= 0x15;  // its checksum
  const Contents read = read_archive(flipped);
  EXPECT_EQ(read.members.size(), 3U);
  EXPECT_EQ(read.members.at("a.json"), members[0].second);
  EXPECT_EQ(read.members.at("deep/b.json"), members[1].second);
  EXPECT_EQ(read.members.at("c.json"), members[2].second);
  ASSERT_EQ(read.damage.size(), 1U);
  EXPECT_EQ(read.damage[0].offset, static_cast<std::int64_t>(second));

  for (const char fill : {'\0', '\xA5', 'j'}) {  // the whole header is gone
    std::string gone = tar;
    gone.replace(second, 512, std::string(512, fill));
    const Contents rest = read_archive(gone);
    EXPECT_EQ(rest.members.at("a.json"), members[0].second);
    EXPECT_EQ(rest.members.at("c.json"), members[2].second);
    EXPECT_EQ(rest.damage.size(), 1U);
    ASSERT_EQ(rest.members.size(), 3U);
    for (const auto& [name, text] : rest.members) {
      if (!name.starts_with("member at byte ")) continue;
      EXPECT_NE(text.find(members[1].second), std::string::npos);
    }
  }
}

TEST(Archive, ADamagedZipMemberCostsNothingElse) {
  const testing::Members members = three_members();
  const std::string zip = testing::zip(members);
  const std::size_t second = zip.find("deep/b.json") - 30;
  std::string flipped = zip;
  for (std::size_t i = 0; i < 64; ++i) flipped[second + 20000 + i] ^= 0x55;
  const Contents read = read_archive(flipped);
  EXPECT_EQ(read.members.at("a.json"), members[0].second);
  EXPECT_EQ(read.members.at("c.json"), members[2].second);
  EXPECT_EQ(read.errors.size(), 1U);
  // What comes before the damage, which lies about a fifth into it.
  EXPECT_EQ(read.members.at("deep/b.json").substr(0, 40000), members[1].second.substr(0, 40000));

  std::string gone = zip;
  gone.replace(second, 30, std::string(30, 'x'));  // the header
  const Contents rest = read_archive(gone);
  EXPECT_EQ(rest.members.size(), 2U);
  EXPECT_EQ(rest.members.at("c.json"), members[2].second);
  ASSERT_EQ(rest.damage.size(), 1U);
  // Where the bytes that make no sense begin: at the header or its descriptor before it.
  EXPECT_NEAR(static_cast<double>(rest.damage[0].offset), static_cast<double>(second), 24);
}

TEST(Archive, AppendedAndPaddedTars) {
  const std::string one = testing::tar({{"one", "1"}});
  const std::string two = testing::tar({{"two", "2"}});
  const Contents read = read_archive(one + two + std::string(20000, '\0'));
  EXPECT_EQ(read.members.size(), 2U);
  EXPECT_TRUE(read.damage.empty());
  const Contents junk = read_archive(one + "trailing junk");
  EXPECT_EQ(junk.members.size(), 1U);
  EXPECT_TRUE(junk.damage.empty());
}

TEST(Archive, AnyDamageEndsInAResult) {
  const testing::Members members = {{"a", sample_text(700)}, {"b", sample_text(3000)}, {"c", "x"}};
  std::mt19937 random(11);
  for (const std::string& whole : {testing::tar(members), testing::zip(members)}) {
    for (int round = 0; round < 400; ++round) {
      std::string damaged = whole;
      for (std::size_t n = 1 + random() % 4; n > 0; --n) {
        damaged[random() % damaged.size()] = static_cast<char>(random());
      }
      if (round % 3 == 0) damaged.resize(random() % damaged.size());
      const Contents read = read_archive(damaged, 100 + random() % 5000);
      EXPECT_LE(read.members.size(), 4U);
    }
  }
}

}  // namespace
}  // namespace pyrometer::base
