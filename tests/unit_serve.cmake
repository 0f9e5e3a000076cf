# `pyrometer serve`: blocks by themselves, and the program from outside (serve/*_test.py, each a ctest
# test `serve.<name>`) on the simulated NVML of unit_sources.cmake.
pyrometer_test(server_test
  SOURCES
    src/server/access_test.cpp
    src/server/address_test.cpp
    src/server/request_test.cpp
    src/server/response_test.cpp
  LIBS pyrometer_server)

file(GLOB serve_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/serve/*_test.py)
foreach(file IN LISTS serve_tests)
  get_filename_component(name ${file} NAME_WE)
  string(REGEX REPLACE "_test$" "" name ${name})
  add_test(NAME serve.${name} COMMAND Python3::Interpreter ${file})
  set_tests_properties(serve.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 LABELS serve
    ENVIRONMENT "PYROMETER_PROGRAM=$<TARGET_FILE:pyrometer>;PYROMETER_BUILD=${PROJECT_BINARY_DIR};PYROMETER_STUB_FOLDER=${PROJECT_BINARY_DIR}/tests/stub_nvml;PYROMETER_SANITIZED=${PYROMETER_SANITIZE};PYTHONDONTWRITEBYTECODE=1")
endforeach()

# A few hours in seconds; bench-like runs of a day are by hand: docs/results/2026-12-01-soak.md.
add_executable(soak ${CMAKE_CURRENT_SOURCE_DIR}/soak/soak.cpp)
target_link_libraries(soak PRIVATE pyrometer_server pyrometer_warnings Threads::Threads)
add_test(NAME serve.soak COMMAND soak 2 1800)
set_tests_properties(serve.soak PROPERTIES TIMEOUT 120 LABELS serve)
