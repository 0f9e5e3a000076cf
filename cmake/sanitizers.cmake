if(PYROMETER_SANITIZE)
  add_compile_options(-fsanitize=${PYROMETER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # GCC's flow analysis is wrong about instrumented std::function and std::regex.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)
  else()
    # Vendor libraries are opened at run time and called by declarations of our own, whose handles and
    # structures have other names than theirs.
    add_compile_options(-fno-sanitize=function)
  endif()
  add_link_options(-fsanitize=${PYROMETER_SANITIZE})
endif()
if(PYROMETER_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "PYROMETER_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
