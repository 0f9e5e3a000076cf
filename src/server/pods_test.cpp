#include "server/pods.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace pyrometer::server {
namespace {

const std::string kId(64, 'a');

TEST(PodsTest, ReadsTheNameOfALog) {
  std::string id;
  Pod pod;
  ASSERT_TRUE(parse_container_log("train-0_ml_worker-1-" + kId + ".log", id, pod));
  EXPECT_EQ(id, kId);
  EXPECT_EQ(pod.name, "train-0");
  EXPECT_EQ(pod.name_space, "ml");
  EXPECT_EQ(pod.container, "worker-1");
  for (const std::string& other :
       {"a_b_c-" + kId, "a_b-" + kId + ".log", "a_b_c" + kId + ".log", "_b_c-" + kId + ".log",
        "a_b_-" + kId + ".log", std::string("a_b_c-1.log"),
        "a_b_c-" + std::string(64, 'g') + ".log"}) {
    EXPECT_FALSE(parse_container_log(other, id, pod)) << other;
  }
}

TEST(PodsTest, FindsContainers) {
  const std::string root = ::testing::TempDir() + "pods." + std::to_string(::getpid());
  std::filesystem::create_directories(root + "/var/log/containers");
  std::filesystem::create_symlink("/nowhere", root + "/var/log/containers/p_n_c-" + kId + ".log");
  Pods pods(root);
  const Pod* pod = pods.find(kId);
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(pod->name, "p");
  EXPECT_EQ(pods.find(std::string(64, 'b')), nullptr);
  EXPECT_EQ(pods.find(""), nullptr);
  std::filesystem::remove_all(root);
  EXPECT_EQ(Pods(root).find(kId), nullptr);
}

}  // namespace
}  // namespace pyrometer::server
