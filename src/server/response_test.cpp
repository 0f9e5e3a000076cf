#include "server/response.h"

#include <gtest/gtest.h>

#include "server/gzip.h"

namespace pyrometer::server {
namespace {

Request asking_for(std::string encoding) {
  Request request;
  request.method = "GET";
  request.headers.emplace_back("accept-encoding", std::move(encoding));
  return request;
}

TEST(ResponseTest, SaysHowLongItIs) {
  const std::string text = render_response(asking_for(""), {.body = "abc"}, true);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_NE(text.find("\r\nContent-Length: 3\r\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\r\n\r\nabc"));
  EXPECT_EQ(text.find("Connection: close"), std::string::npos);
  EXPECT_EQ(text.find("Access-Control"), std::string::npos);
}

TEST(ResponseTest, HeadHasNoBody) {
  Request request = asking_for("");
  request.method = "HEAD";
  const std::string text = render_response(request, {.body = "abc"}, false);
  EXPECT_NE(text.find("Content-Length: 3\r\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\r\n\r\n"));
}

TEST(ResponseTest, PacksWhatPays) {
  const Response large{.body = std::string(5000, 'x')};
  EXPECT_NE(render_response(asking_for("gzip"), large, true).find("Content-Encoding: gzip"),
            std::string::npos);
  EXPECT_EQ(render_response(asking_for("br"), large, true).find("Content-Encoding"),
            std::string::npos);
  EXPECT_EQ(render_response(asking_for("gzip"), {.body = "x"}, true).find("Content-Encoding"),
            std::string::npos);
  const std::string packed = gzip(large.body);
  EXPECT_LT(packed.size(), 200U);
  EXPECT_TRUE(packed.starts_with("\x1f\x8b"));
}

TEST(ResponseTest, StreamsComeInChunks) {
  Response stream{.body = "{}\n"};
  stream.stream = StreamKind::kNdjson;
  Request request = asking_for("gzip");
  EXPECT_TRUE(render_response(request, stream, true).ends_with("\r\n\r\n3\r\n{}\n\r\n"));
  request.is_http_1_0 = true;
  const std::string old = render_response(request, stream, true);
  EXPECT_TRUE(old.ends_with("\r\n\r\n{}\n"));
  EXPECT_EQ(old.find("chunked"), std::string::npos);
}

TEST(ResponseTest, ErrorsAreJson) {
  EXPECT_EQ(error_response(404, "no \"x\"\r\n").body, "{\"error\": \"no \\\"x\\\"\\r\\n\"}\n");
}

}  // namespace
}  // namespace pyrometer::server
