# How often compare and try call a program different from itself, on simulated noise.
add_executable(aa_bench ${PROJECT_SOURCE_DIR}/bench/aa/aa_bench.cpp
                        ${PROJECT_SOURCE_DIR}/bench/aa/noise.cpp)
target_include_directories(aa_bench PRIVATE ${PROJECT_SOURCE_DIR}/bench)
target_link_libraries(aa_bench PRIVATE pyrometer_verify fmt::fmt pyrometer_warnings)
