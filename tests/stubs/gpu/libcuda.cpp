// The fake libcuda.so.1: bringing CUDA up, and what it says of devices.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "stub_gpu.h"

#define STUB_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

std::atomic<bool> initialised{false};

constexpr int kNotInitialised = 3;
constexpr int kInvalidDevice = 101;

int device_count() {
  const char* count = stub_option("devices");
  return count == nullptr ? 1 : std::atoi(count);
}

int check(int device) {
  if (!initialised) return kNotInitialised;
  return device >= 0 && device < device_count() ? 0 : kInvalidDevice;
}

// The driver loads the library before it is ready itself.
void inject() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr) return;
  void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "stub: %s\n", ::dlerror());
    return;
  }
  if (void* entry = ::dlsym(library, "InitializeInjection"); entry != nullptr) {
    reinterpret_cast<int (*)()>(entry)();
  }
}

}  // namespace

STUB_EXPORT int cuInit(unsigned) {
  static std::atomic<bool> injected{false};
  if (!injected.exchange(true)) inject();
  initialised = true;
  return 0;
}

STUB_EXPORT int cuDriverGetVersion(int* version) {
  *version = STUB_DRIVER_VERSION;
  return 0;
}

STUB_EXPORT int cuDeviceGetCount(int* count) {
  if (!initialised) return kNotInitialised;
  *count = device_count();
  return 0;
}

STUB_EXPORT int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return check(ordinal);
}

STUB_EXPORT int cuDeviceGetName(char* name, int bytes, int device) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "Pyrometer Test GPU");
  return check(device);
}

STUB_EXPORT int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(i * 16 + device);
  return check(device);
}

STUB_EXPORT int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = std::size_t{80} << 30;
  return check(device);
}

STUB_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  switch (attribute) {
    case 16:  // multiprocessors
      *value = 132;
      break;
    case 33:  // PCI bus
      *value = 0x1b + device;
      break;
    case 75:  // compute capability
      *value = 9;
      break;
    default:
      *value = 0;
  }
  return check(device);
}
