#include "sources/vendor_library.h"

#include <dlfcn.h>

namespace pyrometer::sources {

std::shared_ptr<void> open_first(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* opened = dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
      return {opened, [](void* library) { dlclose(library); }};
    }
  }
  return nullptr;
}

Resolver symbols_of(const std::shared_ptr<void>& library) {
  return [library](const char* symbol) { return dlsym(library.get(), symbol); };
}

}  // namespace pyrometer::sources
