#include "sources/kube/pods.h"

#include <dirent.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "sources/kube/grpc_call.h"
#include "sources/source.h"

namespace pyrometer::sources::kube {
namespace {

constexpr std::int64_t kLookAgain = 5'000'000'000;
constexpr std::string_view kSocket = "/var/lib/kubelet/pod-resources/kubelet.sock";
constexpr std::string_view kLogs = "/var/log/containers";
constexpr std::string_view kMethod = "/v1.PodResourcesLister/List";
constexpr auto kPatience = std::chrono::milliseconds(500);
constexpr std::size_t kIdLength = 64;

// Fields of a protobuf message, one by one.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  // Moves to the next field; false at the end, or where the message is damaged.
  bool next() {
    if (rest_.empty()) return false;
    const auto tag = varint();
    if (!tag) return fail();
    number_ = static_cast<std::uint32_t>(*tag >> 3);
    bytes_ = {};
    switch (*tag & 7) {
      case 0:
        return varint().has_value() || fail();
      case 1:
        return skip(8);
      case 2: {
        const auto size = varint();
        if (!size || *size > rest_.size()) return fail();
        bytes_ = rest_.substr(0, static_cast<std::size_t>(*size));
        return skip(bytes_.size());
      }
      case 5:
        return skip(4);
      default:
        return fail();
    }
  }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }  // empty: no such field
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  bool fail() {
    failed_ = true;
    return false;
  }
  bool skip(std::size_t size) {
    if (size > rest_.size()) return fail();
    rest_.remove_prefix(size);
    return true;
  }
  std::optional<std::uint64_t> varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      number |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return number;
    }
    return std::nullopt;
  }

  std::string_view rest_, bytes_;
  std::uint32_t number_ = 0;
  bool failed_ = false;
};

// ContainerDevices: 1 name of the resource, 2 ids of devices.
bool take_devices(std::string_view message, const Pod& pod, std::vector<DeviceOfPod>& all) {
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 2) all.push_back({std::string(fields.bytes()), pod});
  }
  return !fields.failed();
}

// ContainerResources: 1 name, 2 devices.
bool take_container(std::string_view message, Pod pod, std::vector<DeviceOfPod>& all) {
  for (const std::uint32_t wanted : {1U, 2U}) {  // in whatever order they come
    Fields fields(message);
    while (fields.next()) {
      if (fields.number() != wanted) continue;
      if (wanted == 1) {
        pod.container = fields.bytes();
      } else if (!take_devices(fields.bytes(), pod, all)) {
        return false;
      }
    }
    if (fields.failed()) return false;
  }
  return true;
}

// PodResources: 1 name, 2 namespace, 3 containers.
bool take_pod(std::string_view message, std::vector<DeviceOfPod>& all) {
  Pod pod;
  Fields names(message);
  while (names.next()) {
    if (names.number() == 1) pod.name = names.bytes();
    if (names.number() == 2) pod.name_space = names.bytes();
  }
  Fields containers(message);
  while (containers.next()) {
    if (containers.number() == 3 && !take_container(containers.bytes(), pod, all)) return false;
  }
  return !names.failed() && !containers.failed();
}

bool is_id(std::string_view text) {
  return text.size() == kIdLength && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_due(std::int64_t& last, std::int64_t now) {
  if (last != 0 && now - last < kLookAgain) return false;
  last = now;
  return true;
}

}  // namespace

base::Result<std::vector<DeviceOfPod>> parse_pod_resources(std::string_view message) {
  std::vector<DeviceOfPod> all;
  Fields fields(message);
  bool good = true;
  while (good && fields.next()) {
    if (fields.number() == 1) good = take_pod(fields.bytes(), all);
  }
  if (good && !fields.failed()) return all;
  return base::fail({.kind = base::ErrorKind::kFormat,
                     .message = "the kubelet's list of pod resources is damaged"});
}

std::optional<Pod> parse_log_name(std::string_view name, std::string& id) {
  constexpr std::string_view kEnd = ".log";
  if (!name.ends_with(kEnd)) return std::nullopt;
  name.remove_suffix(kEnd.size());
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || !is_id(name.substr(dash + 1))) return std::nullopt;
  id = name.substr(dash + 1);
  name = name.substr(0, dash);
  // None of the three names may hold an underscore.
  const std::size_t first = name.find('_');
  const std::size_t second = name.find('_', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  return Pod{.name = std::string(name.substr(0, first)),
             .name_space = std::string(name.substr(first + 1, second - first - 1)),
             .container = std::string(name.substr(second + 1))};
}

void Pods::read_logs() {
  by_container_.clear();
  DIR* folder = opendir((root_ + std::string(kLogs)).c_str());
  if (folder == nullptr) return;
  std::string id;
  while (const dirent* entry = readdir(folder)) {
    if (auto pod = parse_log_name(entry->d_name, id)) by_container_[id] = std::move(*pod);
  }
  closedir(folder);
}

const Pod* Pods::of_container(std::string_view id) {
  auto found = by_container_.find(id);
  if (found == by_container_.end() && is_due(logs_ns_, monotonic_ns())) {
    read_logs();
    found = by_container_.find(id);
  }
  return found == by_container_.end() ? nullptr : &found->second;
}

void Pods::ask_kubelet() {
  devices_.clear();
  kubelet_gap_.reset();
  const auto answer = grpc_call(root_ + std::string(kSocket), kMethod, {}, kPatience);
  if (!answer) {
    const base::ErrorKind kind = answer.error().kind;
    kubelet_gap_ = kind == base::ErrorKind::kNotFound
                       ? Gap{Absence::kNotAvailable, "the kubelet's socket is not here"}
                   : kind == base::ErrorKind::kPermission
                       ? Gap{Absence::kNoPermission, "the kubelet's socket is root's"}
                       : Gap{Absence::kFailed, "the kubelet gave no answer"};
    return;
  }
  auto devices = parse_pod_resources(*answer);
  if (devices) {
    devices_ = std::move(*devices);
  } else {
    kubelet_gap_ = Gap{Absence::kFailed, "the kubelet's answer could not be read"};
  }
}

const Pod* Pods::of_device(std::string_view uuid, Gap& why) {
  if (is_due(kubelet_ns_, monotonic_ns())) ask_kubelet();
  if (kubelet_gap_) {
    why = *kubelet_gap_;
    return nullptr;
  }
  const Pod* found = nullptr;
  for (const DeviceOfPod& entry : devices_) {
    const std::string_view id(entry.device);
    if (id.substr(0, id.find("::")) != uuid) continue;
    const bool is_same = found != nullptr && found->name == entry.pod.name &&
                         found->name_space == entry.pod.name_space;
    if (found != nullptr && !is_same) {
      why = {Absence::kNotAvailable, "several pods share the GPU"};
      return nullptr;
    }
    found = &entry.pod;
  }
  if (found == nullptr) why = {Absence::kNotAvailable, "the kubelet gave the GPU to no pod"};
  return found;
}

}  // namespace pyrometer::sources::kube
