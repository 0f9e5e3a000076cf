#include "loaded_libraries.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "debug.h"

namespace pyrometer::inject {
namespace {

struct Soname {
  const char* name;
  int cuda;  // major version
};
constexpr Soname kSonames[] = {
    {"libcupti.so.13", 13}, {"libcupti.so.12", 12}, {"libcupti.so.11", 11}};

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

bool starts_with(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

// One line of /proc/self/maps: the path is what follows the first '/'.
const char* path_of(char* line) {
  char* path = std::strchr(line, '/');
  return path != nullptr && std::strstr(path, ".so") != nullptr ? path : nullptr;
}

// The driver's major version; a CUPTI of a later one does not work with it. 0: unknown.
int driver_major() {
  void* library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* function = library == nullptr ? nullptr : ::dlsym(library, "cuDriverGetVersion");
  int version = 0;
  if (function != nullptr && reinterpret_cast<int (*)(int*)>(function)(&version) == 0) {
    return version / 1000;
  }
  return 0;
}

void* open_file(const char* path) {
  if (::access(path, R_OK) != 0) {
    return nullptr;
  }
  void* handle = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  debug("%s: %s", path, handle != nullptr ? "opened" : ::dlerror());
  return handle;
}

// libcupti in `folder`, by any of its names.
void* open_in(const char* folder) {
  for (const Soname& soname : kSonames) {
    char path[kPathBytes];
    const int length = std::snprintf(path, sizeof path, "%s/%s", folder, soname.name);
    if (length >= static_cast<int>(sizeof path)) {
      continue;
    }
    if (void* handle = open_file(path); handle != nullptr) {
      return handle;
    }
  }
  return nullptr;
}

// A folder of CUDA or PyTorch libraries knows where its CUPTI is: in the same folder (a toolkit,
// nvidia/cu13/lib), or in the same site-packages/nvidia.
bool look_beside(const char* library, void* user) {
  const char* name = file_name(library);
  if (!starts_with(name, "libcudart") && !starts_with(name, "libtorch_cuda") &&
      !starts_with(name, "libc10_cuda") && !starts_with(name, "libcublas") &&
      !starts_with(name, "libnvrtc") && !starts_with(name, "libcudnn")) {
    return false;
  }
  char folder[kPathBytes];
  std::snprintf(folder, sizeof folder, "%.*s", static_cast<int>(name - library), library);
  // <site-packages>/torch/lib, <site-packages>/nvidia/<package>/lib, <toolkit>/lib64.
  static constexpr const char* kPlaces[] = {
      ".",
      "../../cuda_cupti/lib",
      "../../cu13/lib",
      "../../nvidia/cu13/lib",
      "../../nvidia/cuda_cupti/lib",
      "../extras/CUPTI/lib64",
  };
  auto* handle = static_cast<void**>(user);
  for (const char* place : kPlaces) {
    char path[kPathBytes];
    const int length = std::snprintf(path, sizeof path, "%s%s", folder, place);
    if (length < static_cast<int>(sizeof path) && (*handle = open_in(path)) != nullptr) {
      return true;
    }
  }
  return false;
}

void* open_in_toolkits() {
  static constexpr const char* kPatterns[] = {
      "/usr/local/cuda/lib64/libcupti.so.1[1-9]",
      "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.1[1-9]",
      "/usr/local/cuda*/lib64/libcupti.so.1[1-9]",
      "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.1[1-9]",
      "/usr/local/cuda*/targets/*-linux/lib/libcupti.so.1[1-9]",
  };
  for (const char* pattern : kPatterns) {
    glob_t found{};
    void* handle = nullptr;
    if (::glob(pattern, 0, nullptr, &found) == 0) {
      // The last is the newest.
      for (std::size_t i = found.gl_pathc; handle == nullptr && i-- > 0;) {
        handle = open_file(found.gl_pathv[i]);
      }
      ::globfree(&found);
    }
    if (handle != nullptr) {
      return handle;
    }
  }
  return nullptr;
}

}  // namespace

bool visit_mapped_libraries(PathVisitor visit, void* user) {
  const int fd = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  char text[8192];
  std::size_t held = 0;
  char last[kPathBytes] = "";
  bool stop = false;
  for (;;) {
    const ssize_t got = ::read(fd, text + held, sizeof text - 1 - held);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    held += static_cast<std::size_t>(got);
    text[held] = '\0';
    char* line = text;
    for (char* end = std::strchr(line, '\n'); !stop && end != nullptr;
         end = std::strchr(line, '\n')) {
      *end = '\0';
      const char* path = path_of(line);
      if (path != nullptr && std::strcmp(path, last) != 0) {
        std::snprintf(last, sizeof last, "%s", path);
        stop = visit(path, user);
      }
      line = end + 1;
    }
    if (stop) {
      break;
    }
    held = static_cast<std::size_t>(text + held - line);
    std::memmove(text, line, held);
    if (held == sizeof text - 1) {
      held = 0;  // no line is that long
    }
  }
  ::close(fd);
  return stop;
}

void* mapped_library(const char* prefix, char* path) {
  struct Search {
    const char* prefix;
    void* handle;
    char* path;
  } search{prefix, nullptr, path};
  visit_mapped_libraries(
      [](const char* library, void* user) {
        auto* wanted = static_cast<Search*>(user);
        if (!starts_with(file_name(library), wanted->prefix)) {
          return false;
        }
        wanted->handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
        if (wanted->handle != nullptr && wanted->path != nullptr) {
          std::snprintf(wanted->path, kPathBytes, "%s", library);
        }
        return wanted->handle != nullptr;
      },
      &search);
  return search.handle;
}

void* open_cupti() {
  if (const char* wanted = ::secure_getenv("PYROMETER_CUPTI"); wanted != nullptr) {
    return open_file(wanted);
  }
  for (const Soname& soname : kSonames) {
    if (void* handle = ::dlopen(soname.name, RTLD_NOW | RTLD_NOLOAD); handle != nullptr) {
      debug("%s is loaded", soname.name);
      return handle;
    }
  }
  // A copy whose name in memory is another one (loaded by path, without a soname that we know).
  if (void* handle = mapped_library("libcupti", nullptr); handle != nullptr) {
    return handle;
  }
  void* handle = nullptr;
  if (visit_mapped_libraries(look_beside, &handle)) {
    return handle;
  }
  const int driver = driver_major();
  for (const Soname& soname : kSonames) {
    handle = driver != 0 && soname.cuda > driver ? nullptr
                                                 : ::dlopen(soname.name, RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) {
      debug("%s found on the search path", soname.name);
      return handle;
    }
  }
  return open_in_toolkits();
}

}  // namespace pyrometer::inject
