#include "server/address.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace pyrometer::server {
namespace {

TEST(AddressTest, ReadsWhatPeopleWrite) {
  Address address;
  const auto read = [&address](std::string_view text) {
    const std::string wrong = parse_address(text, address);
    return wrong.empty() ? address.text() : wrong;
  };
  EXPECT_EQ(read("127.0.0.1:9400"), "127.0.0.1:9400");
  EXPECT_EQ(read(":9400"), "0.0.0.0:9400");
  EXPECT_EQ(read("[::1]:0"), "[::1]:0");
  EXPECT_EQ(read("gpu7.example:65535"), "gpu7.example:65535");
  EXPECT_EQ(read("unix:/run/p.sock"), "unix:/run/p.sock");
  for (const char* bad : {"9400", "", "host:", "host:x", "host:65536", "host:-1", "::1:9400",
                          "unix:", "host:94 00"}) {
    EXPECT_NE(parse_address(bad, address), "") << bad;
  }
  EXPECT_NE(parse_address("unix:" + std::string(200, 'x'), address), "");
}

TEST(ListenerTest, SaysWhoHasThePort) {
  Address address;
  ASSERT_EQ(parse_address("127.0.0.1:0", address), "");
  const auto first = Listener::open(address);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->is_local());
  ASSERT_NE(first->address().port, 0);
  const auto second = Listener::open(first->address());
  ASSERT_FALSE(second);
  const std::string text = second.error().to_string();
  EXPECT_NE(text.find(":" + std::to_string(first->address().port)), std::string::npos) << text;
  EXPECT_NE(text.find("(process " + std::to_string(::getpid()) + ")"), std::string::npos) << text;
}

TEST(ListenerTest, KnowsWhatIsLocal) {
  Address address;
  ASSERT_EQ(parse_address("0.0.0.0:0", address), "");
  const auto open = Listener::open(address);
  ASSERT_TRUE(open);
  EXPECT_FALSE(open->is_local());
}

TEST(ListenerTest, TakesOverASocketThatIsLeftBehindAndNoOther) {
  const std::string path = ::testing::TempDir() + "listener." + std::to_string(::getpid());
  const Address address{.path = path};
  {
    const auto first = Listener::open(address);
    ASSERT_TRUE(first);
    EXPECT_FALSE(Listener::open(address));  // somebody listens
    std::filesystem::rename(path, path + ".left");
  }
  std::filesystem::rename(path + ".left", path);
  {
    EXPECT_TRUE(Listener::open(address));
    EXPECT_FALSE(std::filesystem::exists(path));  // gone with the listener
  }
  std::ofstream(path) << "a file of somebody's";
  EXPECT_FALSE(Listener::open(address));
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace pyrometer::server
