// Which Kubernetes pod a container belongs to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace pyrometer::server {

struct Pod {
  std::string name, name_space, container;  // the container's name in the pod
};

// Parses "POD_NAMESPACE_CONTAINER-<id>.log", the name of a link in /var/log/containers; false where
// it is none. `id` has 64 hexadecimal digits.
[[nodiscard]] bool parse_container_log(std::string_view file, std::string& id, Pod& pod);

// Reads the names in /var/log/containers, which the kubelet keeps for log collectors: no API
// server, no privileges, no socket. Not thread-safe.
class Pods {
 public:
  explicit Pods(std::string root) : root_(std::move(root)) {}

  // Null where no pod is known for the container. Looks again for one that is not known, at most
  // once in a while.
  [[nodiscard]] const Pod* find(std::string_view container_id);

 private:
  void read();

  std::string root_;
  std::map<std::string, Pod, std::less<>> pods_;
  std::int64_t read_ns_ = 0;  // 0: never
};

}  // namespace pyrometer::server
