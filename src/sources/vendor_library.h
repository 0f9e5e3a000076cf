// Vendors' libraries, opened at run time.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>

namespace pyrometer::sources {

// Address of a function, null where the library lacks it. Tests bring their own.
using Resolver = std::function<void*(const char*)>;

// The first of these that can be opened; null: none. Closed with the last copy.
[[nodiscard]] std::shared_ptr<void> open_first(std::initializer_list<const char*> names);

[[nodiscard]] Resolver symbols_of(const std::shared_ptr<void>& library);

// The first of these functions that the library has; leaves `function` alone where it has none.
template <typename Function>
void find_function(const Resolver& resolve, Function*& function,
                   std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* address = resolve(name)) {
      function = reinterpret_cast<Function*>(address);
      return;
    }
  }
}

}  // namespace pyrometer::sources
