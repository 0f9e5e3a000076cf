#include "properties.h"

#include <dlfcn.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>

#include "loaded_libraries.h"

namespace pyrometer::inject {
namespace {

// The CUDA driver's functions that need no context; 0 is success.
struct Driver {
  int (*get_version)(int*);
  int (*get_count)(int*);
  int (*get_device)(int* device, int ordinal);
  int (*get_name)(char* name, int bytes, int device);
  int (*get_uuid)(unsigned char uuid[16], int device);
  int (*total_memory)(std::size_t* bytes, int device);
  int (*get_attribute)(int* value, int attribute, int device);
};

enum Attribute : int {
  kMultiprocessorCount = 16,
  kPciBusId = 33,
  kPciDeviceId = 34,
  kPciDomainId = 50,
  kComputeMajor = 75,
  kComputeMinor = 76,
};

template <typename Function>
bool resolve(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(::dlsym(library, name));
  return *function != nullptr;
}

bool load_driver(Driver* driver) {
  void* library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return library != nullptr && resolve(library, "cuDriverGetVersion", &driver->get_version) &&
         resolve(library, "cuDeviceGetCount", &driver->get_count) &&
         resolve(library, "cuDeviceGet", &driver->get_device) &&
         resolve(library, "cuDeviceGetName", &driver->get_name) &&
         (resolve(library, "cuDeviceGetUuid_v2", &driver->get_uuid) ||
          resolve(library, "cuDeviceGetUuid", &driver->get_uuid)) &&
         resolve(library, "cuDeviceTotalMem_v2", &driver->total_memory) &&
         resolve(library, "cuDeviceGetAttribute", &driver->get_attribute);
}

// 13000 -> "13.0"
bool put_cuda_version(ring::Writer& writer, const char* key, int version) {
  char text[32];
  std::snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
  return put_property(writer, key, text);
}

class DeviceProperties {
 public:
  DeviceProperties(ring::Writer& writer, const Driver& driver, int ordinal)
      : writer_(writer), driver_(driver), ordinal_(ordinal) {}

  bool put() {
    if (driver_.get_device(&device_, ordinal_) != 0) {
      return true;
    }
    char text[256];
    bool written = true;
    if (driver_.get_name(text, sizeof text, device_) == 0) {
      written = put_text("name", text) && written;
    }
    unsigned char uuid[16];
    if (driver_.get_uuid(uuid, device_) == 0) {
      format_uuid(uuid, text, sizeof text);
      written = put_text("uuid", text) && written;
    }
    std::size_t bytes = 0;
    if (driver_.total_memory(&bytes, device_) == 0) {
      std::snprintf(text, sizeof text, "%zu", bytes);
      written = put_text("total_memory_bytes", text) && written;
    }
    std::snprintf(text, sizeof text, "%08x:%02x:%02x.0", attribute(kPciDomainId),
                  attribute(kPciBusId), attribute(kPciDeviceId));
    written = put_text("pci", text) && written;
    std::snprintf(text, sizeof text, "%d", attribute(kMultiprocessorCount));
    written = put_text("sm_count", text) && written;
    std::snprintf(text, sizeof text, "%d.%d", attribute(kComputeMajor), attribute(kComputeMinor));
    return put_text("compute_capability", text) && written;
  }

 private:
  int attribute(Attribute which) {
    int value = 0;
    driver_.get_attribute(&value, which, device_);
    return value;
  }

  static void format_uuid(const unsigned char* uuid, char* text, std::size_t bytes) {
    std::size_t at = static_cast<std::size_t>(std::snprintf(text, bytes, "GPU-"));
    for (int i = 0; i < 16; ++i) {
      const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
      at += static_cast<std::size_t>(
          std::snprintf(text + at, bytes - at, dash ? "-%02x" : "%02x", unsigned{uuid[i]}));
    }
  }

  bool put_text(const char* what, const char* value) {
    char key[64];
    std::snprintf(key, sizeof key, "gpu.%d.%s", ordinal_, what);
    return put_property(writer_, key, value);
  }

  ring::Writer& writer_;
  const Driver& driver_;
  int ordinal_;
  int device_ = 0;
};

void put_runtime_version(ring::Writer& writer) {
  void* library = mapped_library("libcudart", nullptr);
  int (*get_version)(int*) = nullptr;
  int version = 0;
  if (library != nullptr && resolve(library, "cudaRuntimeGetVersion", &get_version) &&
      get_version(&version) == 0) {
    put_cuda_version(writer, "cuda.runtime_version", version);
  }
}

}  // namespace

bool put_property(ring::Writer& writer, const char* key, const char* value) {
  const ring::InfoBody body{.time = ring::monotonic_ns(),
                            .key = writer.intern_name(key),
                            .value = writer.intern_name(value)};
  return body.key != 0 && (body.value != 0 || *value == '\0') &&
         writer.write(ring::RecordType::kInfo, 0, body);
}

bool put_device_properties(ring::Writer& writer) {
  Driver driver{};
  int version = 0;
  int devices = 0;
  if (!load_driver(&driver)) {
    return true;
  }
  if (driver.get_version(&version) != 0 || driver.get_count(&devices) != 0) {
    return false;  // cuInit has not ended yet
  }
  if (!put_cuda_version(writer, "cuda.driver_version", version)) {
    return false;
  }
  put_runtime_version(writer);
  bool written = true;
  for (int ordinal = 0; ordinal < devices; ++ordinal) {
    written = DeviceProperties(writer, driver, ordinal).put() && written;
  }
  return written;
}

}  // namespace pyrometer::inject
