// Which pods there are on this machine, and which devices they were given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sources/reading.h"

namespace pyrometer::sources::kube {

struct Pod {
  std::string name, name_space, container;  // of the container in question
};

// What the kubelet answers: the devices that it gave to containers.
struct DeviceOfPod {
  std::string device;  // as the device plugin calls it: a UUID, with "::<n>" where it is shared
  Pod pod;
};
// Decodes a v1 ListPodResourcesResponse. Error: kFormat.
[[nodiscard]] base::Result<std::vector<DeviceOfPod>> parse_pod_resources(std::string_view message);

// "<pod>_<namespace>_<container>-<id>.log", a name in the kubelet's folder of logs; nothing where
// it is something else. `id` becomes the container's.
[[nodiscard]] std::optional<Pod> parse_log_name(std::string_view name, std::string& id);

// Looks at most every few seconds, and not at all before it is asked. Not thread-safe.
class Pods {
 public:
  explicit Pods(std::string root) : root_(std::move(root)) {}

  // The pod of a container, by the names of its logs; null where there are none.
  [[nodiscard]] const Pod* of_container(std::string_view id);
  // The pod that the kubelet gave the device to. Null where there is none, or several share it;
  // `why` then says so.
  [[nodiscard]] const Pod* of_device(std::string_view uuid, Gap& why);

 private:
  void read_logs();
  void ask_kubelet();

  std::string root_;
  std::map<std::string, Pod, std::less<>> by_container_;
  std::vector<DeviceOfPod> devices_;
  std::optional<Gap> kubelet_gap_;
  std::int64_t logs_ns_ = 0, kubelet_ns_ = 0;  // of the last look; 0: none yet
};

}  // namespace pyrometer::sources::kube
