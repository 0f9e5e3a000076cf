# NVML on a simulated machine: a library to put in the real one's place (LD_LIBRARY_PATH, with a
# script in PYROMETER_STUB_NVML), and the same functions within the test program.
set(nvml_stub_sources
  tests/stubs/nvml/events.cpp
  tests/stubs/nvml/functions.cpp
  tests/stubs/nvml/gpm.cpp
  tests/stubs/nvml/world.cpp)
list(TRANSFORM nvml_stub_sources PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE nvml_stub_files)
add_library(nvml_stub SHARED ${nvml_stub_files})
set_target_properties(nvml_stub PROPERTIES
  OUTPUT_NAME nvidia-ml SOVERSION 1 LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/stub_nvml)
# Stays when a source lets go of it: the machine lives on, and its memory is no leak.
target_link_options(nvml_stub PRIVATE -Wl,-z,nodelete)
target_include_directories(nvml_stub PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(nvml_stub PRIVATE pyrometer_test_support ${CMAKE_DL_LIBS})

pyrometer_test(nvml_test
  SOURCES
    src/sources/nvml/nvml_source_test.cpp
    src/sources/nvml/power_limits_test.cpp
    ${nvml_stub_sources}
  LIBS pyrometer_sources)
# The stub's functions are found by name.
set_target_properties(nvml_test PROPERTIES ENABLE_EXPORTS ON)

pyrometer_test(sources_test
  SOURCES
    src/sources/gpu_presence_test.cpp
    src/sources/kube/pods_test.cpp
    src/sources/poller_test.cpp
    src/sources/procfs/host_source_test.cpp
    src/sources/procfs/process_owner_test.cpp
    src/sources/procfs/process_source_test.cpp
    src/sources/procfs/process_usage_test.cpp
    src/sources/procfs/rapl_source_test.cpp
    src/sources/reading_test.cpp
    src/sources/replay/recorded_source_test.cpp
    src/sources/replay/scripted_source_test.cpp
  LIBS pyrometer_sources)

add_library(rocm_smi_stub SHARED ${PROJECT_SOURCE_DIR}/tests/stubs/rocm_smi/functions.cpp)
target_link_libraries(rocm_smi_stub PRIVATE pyrometer_warnings)
pyrometer_test(amd_test SOURCES src/sources/amd/amd_source_test.cpp LIBS pyrometer_sources ${CMAKE_DL_LIBS})
target_compile_definitions(amd_test PRIVATE PYROMETER_STUB_RSMI_PATH="$<TARGET_FILE:rocm_smi_stub>")
add_dependencies(amd_test rocm_smi_stub)

add_library(dcmi_stub SHARED ${PROJECT_SOURCE_DIR}/tests/stubs/dcmi/functions.cpp)
target_link_libraries(dcmi_stub PRIVATE pyrometer_warnings)
pyrometer_test(ascend_test
  SOURCES src/sources/ascend/ascend_source_test.cpp
  LIBS pyrometer_sources ${CMAKE_DL_LIBS})
target_compile_definitions(ascend_test PRIVATE PYROMETER_STUB_DCMI_PATH="$<TARGET_FILE:dcmi_stub>")
add_dependencies(ascend_test dcmi_stub)
