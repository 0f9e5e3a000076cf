# The injected library against the simulated GPU.
include(${CMAKE_CURRENT_SOURCE_DIR}/stub_libraries.cmake)

add_executable(gpu_program targets/gpu_program.cpp)
target_link_libraries(gpu_program PRIVATE
  Threads::Threads ${CMAKE_DL_LIBS} pyrometer_test_support pyrometer_warnings)

if(PYROMETER_CUPTI_INCLUDE)
  add_library(cupti_abi_check OBJECT inject/cupti_abi_check.cpp)
  target_include_directories(cupti_abi_check PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(cupti_abi_check SYSTEM PRIVATE ${PYROMETER_CUPTI_INCLUDE})
else()
  message(STATUS "cupti.h was not found: inject/cupti_abi.h goes unchecked here")
endif()

pyrometer_stub_library(stub_chained gpu_chained libchained.so ${stub_folder}/chained.cpp)

pyrometer_test(inject_test
  SOURCES
    tests/inject/capture_test.cpp
    tests/inject/inert_test.cpp
    tests/inject/process_test.cpp
    tests/inject/recorded_run.cpp
    tests/support/ring_records.cpp
  LIBS pyrometer_ring)
target_compile_definitions(inject_test PRIVATE
  PYROMETER_BUILD_DIR="${PROJECT_BINARY_DIR}"
  PYROMETER_CHAINED_LIBRARY="$<TARGET_FILE:stub_chained>")
add_dependencies(inject_test pyrometer_inject gpu_program stub_chained stub_cupti_12 stub_cupti_13
  stub_cuda_gpu12 stub_cuda_gpu13 stub_cuda_gpu_bare)

if(NOT PYROMETER_SANITIZE)
  add_test(NAME inject.library COMMAND Python3::Interpreter
    ${CMAKE_CURRENT_SOURCE_DIR}/inject/check_library $<TARGET_FILE:pyrometer_inject>)
endif()
