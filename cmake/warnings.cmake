# Warnings are errors, in every preset.
add_library(pyrometer_warnings INTERFACE)
target_compile_options(pyrometer_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wnon-virtual-dtor -Wold-style-cast -Wcast-align
  -Woverloaded-virtual
  # Designated initialisers leave out what keeps its default; that is their point.
  -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Plain -Wshadow also blames enumerators of an enum class; -Wrestrict sees overlaps in sums of
  # std::string that are none (GCC bug 105651).
  target_compile_options(pyrometer_warnings INTERFACE
    -Wshadow=local -Wconversion -Wno-sign-conversion -Wno-restrict)
else()
  # Anonymous structs in unions are an extension to clang, and private fields that only a
  # destructor's owner needs are unused.
  target_compile_options(pyrometer_warnings INTERFACE
    -Wshadow -Wno-nested-anon-types -Wno-unused-private-field)
endif()
