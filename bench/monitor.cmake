# Prints what the sources read on this machine. Runs from a copied file: it needs nothing but glibc.
add_executable(sources_dump ${PROJECT_SOURCE_DIR}/bench/monitor/sources_dump.cpp)
target_link_libraries(sources_dump PRIVATE pyrometer_sources pyrometer_warnings)
target_link_options(sources_dump PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed)

# What the monitor's side of a recording costs, per record and as a share of a core.
add_executable(recorder_bench ${PROJECT_SOURCE_DIR}/bench/monitor/recorder_bench.cpp)
target_link_libraries(recorder_bench PRIVATE pyrometer_monitor pyrometer_warnings)

# What `pyrometer stat` is measured against by stat_speed.py.
add_executable(bare_nvml ${PROJECT_SOURCE_DIR}/bench/monitor/bare_nvml.cpp)
target_link_libraries(bare_nvml PRIVATE pyrometer_warnings ${CMAKE_DL_LIBS})

# What `pyrometer serve` costs: bench/monitor/serve_bench.cpp.
add_executable(serve_bench ${PROJECT_SOURCE_DIR}/bench/monitor/serve_bench.cpp)
target_link_libraries(serve_bench PRIVATE fmt::fmt Threads::Threads pyrometer_warnings)
