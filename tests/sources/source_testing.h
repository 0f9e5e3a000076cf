// Helpers for tests of sources.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sources/source.h"

namespace pyrometer::sources {

// A folder that stands for / and is removed at the end.
class FakeRoot {
 public:
  FakeRoot() {
    std::string path = (std::filesystem::temp_directory_path() / "pyro-root-XXXXXX").string();
    path_ = mkdtemp(path.data());
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  ~FakeRoot() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::string& path() const { return path_; }
  void write(const std::string& file, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + file).parent_path());
    std::ofstream(path_ + file) << text;
  }
  void link(const std::string& file, const std::string& target) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + file).parent_path());
    std::filesystem::create_symlink(target, path_ + file);
  }
  void remove(const std::string& file) const { std::filesystem::remove_all(path_ + file); }

  // A display device on the PCI bus.
  void add_pci(const std::string& address, unsigned vendor, const std::string& driver,
               const std::string& power_control = "on",
               const std::string& status = "active") const {
    const std::string folder = "/sys/bus/pci/devices/" + address;
    write(folder + "/class", "0x030200\n");
    write(folder + "/vendor", vendor == 0x1002 ? "0x1002\n" : "0x10de\n");
    write(folder + "/device", "0x2335\n");
    write(folder + "/power/control", power_control + "\n");
    write(folder + "/power/runtime_status", status + "\n");
    if (!driver.empty()) link(folder + "/driver", "../../../bus/pci/drivers/" + driver);
  }

 private:
  std::string path_;
};

// The last reading of a metric of a subject, null where there is none.
inline const Value* find(const Batch& batch, MetricId metric, const Subject& subject) {
  const Value* found = nullptr;
  for (const Reading& reading : batch.readings) {
    if (reading.metric == metric && reading.subject == subject) found = &reading.value;
  }
  return found;
}

// The number, or nothing where the reading is missing or a text.
inline std::optional<double> number(const Batch& batch, MetricId metric, const Subject& subject) {
  const Value* value = find(batch, metric, subject);
  return value != nullptr && value->number() != nullptr ? std::optional(*value->number())
                                                        : std::nullopt;
}
inline std::string text(const Batch& batch, MetricId metric, const Subject& subject) {
  const Value* value = find(batch, metric, subject);
  return value != nullptr && value->text() != nullptr ? *value->text() : std::string();
}
inline std::optional<Absence> absence(const Batch& batch, MetricId metric, const Subject& subject) {
  const Value* value = find(batch, metric, subject);
  return value != nullptr && value->is_missing() ? std::optional(value->gap()->absence)
                                                 : std::nullopt;
}
inline int count_events(const Batch& batch, EventKind kind) {
  int count = 0;
  for (const Event& event : batch.events) count += event.kind == kind ? 1 : 0;
  return count;
}

}  // namespace pyrometer::sources
