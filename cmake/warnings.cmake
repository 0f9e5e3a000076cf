# Warnings are errors, in every preset.
add_library(pyrometer_warnings INTERFACE)
target_compile_options(pyrometer_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wnon-virtual-dtor -Wold-style-cast -Wcast-align
  -Woverloaded-virtual -Wconversion -Wno-sign-conversion
  # Designated initialisers leave out what keeps its default; that is their point.
  -Wno-missing-field-initializers
  # GCC's plain -Wshadow also blames enumerators of an enum class.
  $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>)
