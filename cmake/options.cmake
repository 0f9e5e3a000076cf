option(PYROMETER_TESTS "Build the tests" ON)
option(PYROMETER_BENCH "Build the benchmarks" OFF)
option(PYROMETER_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
option(PYROMETER_PCH "Precompile the headers that the stages share (clang)" OFF)
option(PYROMETER_RELOCATABLE "Install a tree that needs nothing but glibc" OFF)
set(PYROMETER_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
find_program(PYROMETER_CCACHE ccache)
if(PYROMETER_CCACHE)
  # With precompiled headers it keeps what it compiles only if macros of the command line and of time
  # may differ from those of the header; CMake rebuilds the header when the former change. And it
  # takes the compiler's list of headers instead of preprocessing, a sixth of a first build.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${PYROMETER_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Likewise the header's own time of making.
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()
if(PYROMETER_RELOCATABLE)
  # Code and data that nothing uses (most of libarchive) stay out of the binary.
  add_compile_options(-ffunction-sections -fdata-sections)
  add_link_options(-Wl,--gc-sections -Wl,--as-needed)
endif()
