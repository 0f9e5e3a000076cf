#include "server/request.h"

#include <gtest/gtest.h>

#include <vector>

namespace pyrometer::server {
namespace {

using State = ParsedRequest::State;

TEST(RequestTest, ReadsOne) {
  const std::string text =
      "GET /api/v1/gpus/GPU%2D1?since=4 HTTP/1.1\r\nHost: localhost\r\nACCEPT:  a/b \r\n\r\nrest";
  const ParsedRequest parsed = parse_request(text);
  ASSERT_EQ(parsed.state, State::kComplete);
  EXPECT_EQ(parsed.request.method, "GET");
  EXPECT_EQ(parsed.request.path, "/api/v1/gpus/GPU-1");
  EXPECT_EQ(parsed.request.query, "since=4");
  EXPECT_EQ(parsed.request.header("accept"), "a/b");
  EXPECT_TRUE(parsed.request.keeps_alive());
  EXPECT_EQ(text.substr(parsed.bytes), "rest");
}

TEST(RequestTest, WaitsForTheRest) {
  const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_EQ(parse_request(text.substr(0, i)).state, State::kIncomplete) << i;
  }
  EXPECT_EQ(parse_request(text).state, State::kComplete);
}

struct Refused {
  const char* text;
  int status;
};
TEST(RequestTest, RefusesWhatIsNone) {
  const std::vector<Refused> all = {
      {"\x16\x03\x01\n", 400},
      {"GET /\r\n", 400},
      {"GET HTTP/1.1\r\n", 400},
      {"GET metrics HTTP/1.1\r\n", 400},
      {"GET / HTTP/2.0\r\n", 505},
      {"GET /%zz HTTP/1.1\r\n", 400},
      {"GET /%00 HTTP/1.1\r\n", 400},
      {"GET /a b HTTP/1.1\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", 413},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 413}};
  for (const Refused& one : all) {
    const ParsedRequest parsed = parse_request(one.text);
    EXPECT_EQ(parsed.state, State::kRefused) << one.text;
    EXPECT_EQ(parsed.status, one.status) << one.text;
  }
}

TEST(RequestTest, IsBounded) {
  EXPECT_EQ(parse_request(std::string(kMostRequestBytes, 'a')).status, 431);
  std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (std::size_t i = 0; i < kMostHeaders; ++i) text += "A: b\r\n";
  EXPECT_EQ(parse_request(text + "\r\n").status, 431);
}

TEST(RequestTest, KnowsWhatIsAccepted) {
  EXPECT_TRUE(accepts("text/html, GZIP;q=0.5", "gzip"));
  EXPECT_TRUE(accepts("gzip", "gzip"));
  EXPECT_FALSE(accepts("gzip;q=0", "gzip"));
  EXPECT_FALSE(accepts("gzip;q=0.000", "gzip"));
  EXPECT_FALSE(accepts("x-gzip, *", "gzip"));
  EXPECT_FALSE(accepts("", "gzip"));
}

TEST(RequestTest, ClosesWhatHttp10DoesNotKeep) {
  EXPECT_FALSE(parse_request("GET / HTTP/1.0\r\n\r\n").request.keeps_alive());
  EXPECT_TRUE(
      parse_request("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").request.keeps_alive());
  EXPECT_FALSE(parse_request("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                   .request.keeps_alive());
}

}  // namespace
}  // namespace pyrometer::server
