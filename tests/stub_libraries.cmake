# Included by tests/CMakeLists.txt lists that need the simulated GPU (stubs/gpu/stub_gpu.h).
# <build>/tests/gpu13 holds a fake libcuda.so.1 and libcupti.so.13, gpu12 the same with the CUPTI of
# CUDA 12, gpu_bare a driver without CUPTI. A program uses one of them by LD_LIBRARY_PATH.
find_path(PYROMETER_CUPTI_INCLUDE cupti.h
  PATHS /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include)
set(stub_folder ${CMAKE_CURRENT_SOURCE_DIR}/stubs/gpu)

# pyrometer_stub_library(<target> <folder> <file name> <source>…)
function(pyrometer_stub_library target folder file)
  add_library(${target} SHARED ${ARGN})
  set_target_properties(${target} PROPERTIES
    PREFIX "" SUFFIX "" OUTPUT_NAME ${file}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${folder})
  target_link_options(${target} PRIVATE -Wl,-soname,${file})
  target_link_libraries(${target} PRIVATE Threads::Threads pyrometer_warnings)
endfunction()

foreach(folder gpu13 gpu12 gpu_bare)
  pyrometer_stub_library(stub_cuda_${folder} ${folder} libcuda.so.1
    ${stub_folder}/device.cpp ${stub_folder}/libcuda.cpp ${stub_folder}/options.cpp)
  target_compile_definitions(stub_cuda_${folder} PRIVATE
    STUB_DRIVER_VERSION=$<IF:$<STREQUAL:${folder},gpu12>,12080,13000>)
endforeach()
foreach(version 13 12)
  pyrometer_stub_library(stub_cupti_${version} gpu${version} libcupti.so.${version}
    ${stub_folder}/libcupti.cpp ${stub_folder}/record_layouts.cpp)
  target_include_directories(stub_cupti_${version} PRIVATE ${PROJECT_SOURCE_DIR})
  if(PYROMETER_CUPTI_INCLUDE)
    target_include_directories(stub_cupti_${version} SYSTEM PRIVATE ${PYROMETER_CUPTI_INCLUDE})
    target_compile_definitions(stub_cupti_${version} PRIVATE PYROMETER_HAVE_CUPTI_HEADERS)
  endif()
endforeach()
target_compile_definitions(stub_cupti_13 PRIVATE STUB_CUPTI_VERSION=130001)
target_compile_definitions(stub_cupti_12 PRIVATE STUB_CUPTI_VERSION=26)
