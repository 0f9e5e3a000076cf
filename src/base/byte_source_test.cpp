#include "base/byte_source.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "base/archive_reader.h"
#include "base/decompress.h"
#include "tests/support/pack.h"

namespace pyrometer::base {
namespace {

using testing::TemporaryFolder;

struct Read {
  std::string text;
  std::string error;  // empty: ended properly
  std::int64_t offset = -1;
};

Read read_all(ByteSource& source, std::size_t piece = 1000) {
  Read out;
  std::string buffer(piece, '\0');
  while (true) {
    const auto got = source.read(buffer.data(), piece);
    if (!got) {
      out.error = got.error().message;
      out.offset = got.error().offset;
      // It stays where it stopped.
      EXPECT_FALSE(source.read(buffer.data(), piece).has_value());
      return out;
    }
    if (*got == 0) return out;
    out.text.append(buffer.data(), *got);
  }
}

std::string sample_text(std::size_t size) {
  std::mt19937 random(5);
  std::string text;
  while (text.size() < size) text += "line " + std::to_string(random() % 1000) + "\n";
  return text;
}

using Decompressor = std::unique_ptr<ByteSource> (*)(std::unique_ptr<ByteSource>);

struct Codec {
  std::string (*pack)(const std::string&);
  Decompressor unpack;
};

class Compression : public ::testing::TestWithParam<Codec> {};

TEST_P(Compression, RoundTrips) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000000}}) {
    const std::string text = sample_text(size).substr(0, size);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{4096}, std::size_t{2000000}}) {
      if (size / piece > 100000) continue;
      const auto source = GetParam().unpack(memory_source(GetParam().pack(text)));
      const Read read = read_all(*source, piece);
      EXPECT_EQ(read.error, "");
      EXPECT_EQ(read.text, text);
    }
  }
}

TEST_P(Compression, SeveralMembersAreOneStream) {
  const std::string packed = GetParam().pack("one") + GetParam().pack("") + GetParam().pack("two");
  const auto source = GetParam().unpack(memory_source(packed));
  const Read read = read_all(*source);
  EXPECT_EQ(read.text, "onetwo");
  EXPECT_EQ(read.error, "");
}

TEST_P(Compression, WhatComesBeforeTheTruncationIsDelivered) {
  const std::string text = sample_text(500000);
  const std::string packed = GetParam().pack(text);
  for (const std::size_t size : {packed.size() / 2, packed.size() - 1}) {
    const auto source = GetParam().unpack(memory_source(packed.substr(0, size)));
    const Read read = read_all(*source);
    EXPECT_NE(read.error.find("ends early"), std::string::npos) << read.error;
    EXPECT_EQ(read.offset, static_cast<std::int64_t>(size));
    EXPECT_EQ(text.substr(0, read.text.size()), read.text);
    if (size == packed.size() / 2) {
      EXPECT_GT(read.text.size(), text.size() / 5);
    }
  }
}

TEST_P(Compression, DamageIsNoticed) {
  const std::string text = sample_text(500000);
  std::string packed = GetParam().pack(text);
  for (std::size_t i = 0; i < 200; ++i) packed[packed.size() / 2 + i] ^= 0x55;
  const auto source = GetParam().unpack(memory_source(packed));
  const Read read = read_all(*source);
  EXPECT_NE(read.error, "");
  // What was delivered before is right up to about the damage.
  EXPECT_EQ(text.substr(0, 10000), read.text.substr(0, 10000));
}

TEST_P(Compression, WhatFollowsTheDataIsNoDamage) {
  const std::string packed = GetParam().pack("text");
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{300000}}) {
    const auto source = GetParam().unpack(memory_source(packed + std::string(size, 'g')));
    const Read read = read_all(*source);
    EXPECT_EQ(read.text, "text");
    EXPECT_EQ(read.error, "");
    std::vector<std::string> remarks;
    source->collect_remarks(remarks);
    ASSERT_EQ(remarks.size(), 1U);
    EXPECT_EQ(remarks[0].find(std::to_string(size) + " byte"), 0U) << remarks[0];
    EXPECT_NE(remarks[0].find("from byte " + std::to_string(packed.size())), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Compression,
                         ::testing::Values(Codec{testing::gzip, gunzip},
                                           Codec{testing::zstd, unzstd}));

TEST(Gzip, PaddingWithZerosIsAllowed) {
  const auto padded = gunzip(memory_source(testing::gzip("text") + std::string(1000, '\0')));
  EXPECT_EQ(read_all(*padded).text, "text");
  std::vector<std::string> remarks;
  padded->collect_remarks(remarks);
  EXPECT_TRUE(remarks.empty());
}

TEST(OtherCompression, IsUndone) {
  const std::string text = sample_text(100000);
  const auto source = decompress_other(memory_source(testing::xz(text)));
  EXPECT_EQ(read_all(*source).text, text);
  EXPECT_TRUE(looks_like_other_compression(testing::xz("x")));
}

TEST(Files, ErrorsNameTheCause) {
  const TemporaryFolder folder;
  EXPECT_EQ(open_file(folder / "absent").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(open_file(folder.path()).error().kind, ErrorKind::kUsage);
  testing::write_file(folder / "a", "content");
  const auto file = open_file(folder / "a");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ((*file)->size_hint(), 7);
  EXPECT_EQ(read_all(**file, 3).text, "content");
}

TEST(Peek, ConsumesNothing) {
  PeekSource source(memory_source("abcdef"));
  EXPECT_EQ(source.peek(3).value_or(""), "abc");
  EXPECT_EQ(source.peek(2).value_or(""), "ab");
  EXPECT_EQ(source.peek(100).value_or(""), "abcdef");
  EXPECT_EQ(read_all(source, 4).text, "abcdef");
}

}  // namespace
}  // namespace pyrometer::base
