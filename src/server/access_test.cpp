#include "server/access.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>

namespace pyrometer::server {
namespace {

class TokenTest : public ::testing::Test {
 protected:
  ~TokenTest() override { std::remove(path_.c_str()); }
  base::Result<std::string> read(const std::string& content, mode_t mode = 0600) {
    std::ofstream(path_) << content;
    ::chmod(path_.c_str(), mode);
    return read_token(path_);
  }
  std::string path_ = ::testing::TempDir() + "token." + std::to_string(::getpid());
};

TEST_F(TokenTest, TakesTheFirstLine) {
  const auto token = read("0123456789abcdef\r\nnothing\n");
  ASSERT_TRUE(token);
  EXPECT_EQ(*token, "0123456789abcdef");
}

TEST_F(TokenTest, IsItsOwnersAlone) {
  for (const mode_t mode : {0640, 0604, 0620, 0666}) {
    const auto token = read("0123456789abcdef", mode);
    ASSERT_FALSE(token);
    EXPECT_EQ(token.error().kind, base::ErrorKind::kPermission);
  }
  EXPECT_TRUE(read("0123456789abcdef", 0400));
}

TEST_F(TokenTest, IsLongEnoughAndVisible) {
  for (const char* text : {"", "short", "with a blank in it", "0123456789abcde\xFF"}) {
    EXPECT_FALSE(read(text)) << text;
  }
  EXPECT_FALSE(read(std::string(5000, 'x')));
  EXPECT_EQ(read_token(path_ + ".none").error().kind, base::ErrorKind::kNotFound);
  EXPECT_FALSE(read_token("/dev/null"));
}

Request with(const char* authorization) {
  Request request;
  request.headers.emplace_back("authorization", authorization);
  return request;
}

TEST(AccessTest, BearerToken) {
  EXPECT_TRUE(is_authorized(with("Bearer 0123456789abcdef"), "0123456789abcdef"));
  EXPECT_TRUE(is_authorized(with("bearer  0123456789abcdef"), "0123456789abcdef"));
  for (const char* wrong :
       {"", "Bearer", "Bearer ", "0123456789abcdef", "Basic 0123456789abcdef",
        "Bearer 0123456789abcdeF", "Bearer 0123456789abcdef0", "Bearer 0123456789abcde"}) {
    EXPECT_FALSE(is_authorized(with(wrong), "0123456789abcdef")) << wrong;
  }
  EXPECT_FALSE(is_authorized(Request{}, "0123456789abcdef"));
}

TEST(AccessTest, NamesOfTheLoopback) {
  for (const char* ours : {"localhost", "LOCALHOST:9400", "127.0.0.1", "127.0.0.1:9400",
                           "127.1.2.3", "[::1]", "[::1]:80", "x.localhost:1", ""}) {
    EXPECT_TRUE(is_loopback_host(ours)) << ours;
  }
  for (const char* other : {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example",
                            "[::2]:80", "[::1", "10.0.0.1:9400", "notlocalhost", "0"}) {
    EXPECT_FALSE(is_loopback_host(other)) << other;
  }
}

}  // namespace
}  // namespace pyrometer::server
