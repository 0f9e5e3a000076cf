#include "sources/kube/pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "sources/kube/grpc_call.h"
#include "tests/sources/source_testing.h"

namespace pyrometer::sources::kube {
namespace {

using ::testing::HasSubstr;

std::string field(int number, std::string_view bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  for (std::size_t size = bytes.size();; size >>= 7) {
    out += static_cast<char>((size & 0x7F) | (size > 0x7F ? 0x80 : 0));
    if (size <= 0x7F) break;
  }
  return out.append(bytes);
}
std::string pod_message(std::string_view pod, std::string_view container, std::string_view device) {
  const std::string devices = field(1, "nvidia.com/gpu") + field(2, device);
  return field(1,
               field(1, pod) + field(2, "ml") + field(3, field(1, container) + field(2, devices)));
}
std::string grpc_message(const std::string& payload) {
  std::string out(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += static_cast<char>(payload.size() >> shift & 0xFF);
  }
  return out + payload;
}
std::string frame(int type, int flags, int stream, const std::string& payload) {
  std::string out;
  for (int shift = 16; shift >= 0; shift -= 8) {
    out += static_cast<char>(payload.size() >> shift & 0xFF);
  }
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  return out + std::string("\0\0\0", 3) + static_cast<char>(stream) + payload;
}
const std::string kNoFields = "\x88";  // :status 200

// Answers one connection after another with what the test says, after a whole request has come.
class FakeKubelet {
 public:
  FakeKubelet(std::string path, std::string answer)
      : path_(std::move(path)), answer_(std::move(answer)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 4), 0);
    thread_ = std::thread([this] { serve(); });
  }
  FakeKubelet(const FakeKubelet&) = delete;
  FakeKubelet& operator=(const FakeKubelet&) = delete;
  ~FakeKubelet() {
    stop_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  [[nodiscard]] int calls() const { return calls_; }

 private:
  void serve() {
    while (!stop_) {
      pollfd watched{.fd = listener_, .events = POLLIN, .revents = 0};
      if (poll(&watched, 1, 20) <= 0) continue;
      const int client = accept(listener_, nullptr, nullptr);
      if (client < 0) continue;
      ++calls_;
      std::string request;
      char buffer[4096];
      // The request ends with its empty message.
      const std::string end("\0\0\0\1\0\0\0\0\0", 9);
      while (request.find(end) == std::string::npos) {
        const ssize_t got = read(client, buffer, sizeof buffer);
        if (got <= 0) break;
        request.append(buffer, static_cast<std::size_t>(got));
      }
      EXPECT_THAT(request, ::testing::StartsWith("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
      EXPECT_THAT(request, HasSubstr("/v1.PodResourcesLister/List"));
      for (std::size_t at = 0; at < answer_.size(); at += 100) {  // in small pieces
        static_cast<void>(send(client, answer_.data() + at,
                               std::min<std::size_t>(100, answer_.size() - at), MSG_NOSIGNAL));
      }
      while (!answer_.empty() && read(client, buffer, sizeof buffer) > 0) {
      }
      if (answer_.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      close(client);
    }
  }

  std::string path_, answer_;
  int listener_ = -1;
  std::atomic<bool> stop_{false};
  std::atomic<int> calls_{0};
  std::thread thread_;
};

std::string answer_of(const std::string& message) {
  const std::string bytes = grpc_message(message);
  const std::size_t half = bytes.size() / 2;
  return frame(4, 0, 0, "") + frame(6, 0, 0, "12345678") + frame(4, 1, 0, "") +
         frame(1, 4, 1, kNoFields) + frame(8, 0, 0, std::string("\0\0\1\0", 4)) +
         frame(0, 8, 1, std::string(1, '\3') + bytes.substr(0, half) + "xyz") +
         frame(0, 0, 1, bytes.substr(half)) + frame(1, 5, 1, kNoFields);
}

class GrpcCall : public ::testing::Test {
 protected:
  base::Result<std::string> ask(const std::string& answer, int patience_ms = 2000) {
    unlink(path().c_str());
    FakeKubelet kubelet(path(), answer);
    return grpc_call(path(), "/v1.PodResourcesLister/List", {},
                     std::chrono::milliseconds(patience_ms));
  }
  [[nodiscard]] std::string path() const { return root.path() + "/s"; }
  FakeRoot root;
};

TEST_F(GrpcCall, TakesAnAnswerInParts) {
  const auto answer = ask(answer_of("hello"));
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(*answer, "hello");
  const auto empty = ask(answer_of(""));
  ASSERT_TRUE(empty) << empty.error().to_string();
  EXPECT_EQ(*empty, "");
}

TEST_F(GrpcCall, SaysWhyThereIsNone) {
  EXPECT_EQ(grpc_call(path(), "/a/b", {}, std::chrono::milliseconds(100)).error().kind,
            base::ErrorKind::kNotFound);
  EXPECT_THAT(ask(frame(1, 5, 1, kNoFields)).error().message, HasSubstr("with an error"));
  EXPECT_THAT(ask(frame(3, 0, 1, "\0\0\0\7")).error().message, HasSubstr("refused"));
  EXPECT_THAT(ask(frame(7, 0, 0, "\0\0\0\0\0\0\0\0")).error().message, HasSubstr("refused"));
  EXPECT_THAT(ask("HTTP/1.1 400 Bad Request\r\n\r\n").error().message, HasSubstr("no HTTP/2"));
  EXPECT_THAT(ask("", 50).error().message, HasSubstr("no answer in time"));
  EXPECT_THAT(ask(frame(0, 8, 1,
                        "\x7f"
                        "abc"))
                  .error()
                  .message,
              HasSubstr("damaged"));
  EXPECT_THAT(ask(frame(0, 1, 1, "\1\0\0\0\0")).error().message, HasSubstr("no single gRPC"));
  EXPECT_THAT(ask(frame(0, 1, 1, std::string("\0\0\0\0\5ab", 7))).error().message,
              HasSubstr("no single gRPC"));
}

TEST(PodResources, AreDecoded) {
  const auto list = parse_pod_resources(pod_message("train-0", "main", "GPU-1") +
                                        pod_message("train-1", "main", "GPU-2::3"));
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 2);
  EXPECT_EQ((*list)[1].device, "GPU-2::3");
  EXPECT_EQ((*list)[1].pod.name, "train-1");
  EXPECT_EQ((*list)[1].pod.name_space, "ml");
  EXPECT_EQ((*list)[1].pod.container, "main");
  EXPECT_TRUE(parse_pod_resources("")->empty());
  const std::string whole = pod_message("train-0", "main", "GPU-1");
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_pod_resources(whole.substr(0, size))) << size;
  }
}

TEST(LogNames, NameContainers) {
  std::string id;
  const std::string hash(64, 'b');
  const auto pod = parse_log_name("train-0_ml_main-" + hash + ".log", id);
  ASSERT_TRUE(pod);
  EXPECT_EQ(id, hash);
  EXPECT_EQ(pod->name, "train-0");
  EXPECT_EQ(pod->name_space, "ml");
  EXPECT_EQ(pod->container, "main");
  for (const std::string& other : {std::string("a_b_c.log"), "a_b-" + hash + ".log", hash + ".log",
                                   "a_b_c-" + hash + "b.log", std::string()}) {
    EXPECT_FALSE(parse_log_name(other, id)) << other;
  }
}

TEST(Pods, AskOnceInAWhile) {
  const FakeRoot root;
  root.write("/var/lib/kubelet/pod-resources/x", "");
  FakeKubelet kubelet(
      root.path() + "/var/lib/kubelet/pod-resources/kubelet.sock",
      answer_of(pod_message("train-0", "main", "GPU-1") + pod_message("a", "c", "GPU-2::0") +
                pod_message("b", "c", "GPU-2::1")));
  Pods pods(root.path());
  Gap why;
  const Pod* pod = pods.of_device("GPU-1", why);
  ASSERT_NE(pod, nullptr) << why.text;
  EXPECT_EQ(pod->name, "train-0");
  EXPECT_EQ(pods.of_device("GPU-2", why), nullptr);
  EXPECT_EQ(why.text, "several pods share the GPU");
  EXPECT_EQ(pods.of_device("GPU-3", why), nullptr);
  EXPECT_EQ(why.text, "the kubelet gave the GPU to no pod");
  EXPECT_EQ(kubelet.calls(), 1);
  Pods none("/nowhere");
  EXPECT_EQ(none.of_device("GPU-1", why), nullptr);
  EXPECT_EQ(why.text, "the kubelet's socket is not here");
  EXPECT_EQ(none.of_container(std::string(64, 'a')), nullptr);
}

}  // namespace
}  // namespace pyrometer::sources::kube
