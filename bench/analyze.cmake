# Speed and memory of `pyrometer analyze`: see bench/analyze/README.md.
add_executable(gen_trace analyze/gen_trace.cpp)
target_link_libraries(gen_trace PRIVATE pyrometer_base pyrometer_warnings)

add_executable(walk_bench analyze/walk_bench.cpp analyze/bare_walk.cpp)
target_link_libraries(walk_bench PRIVATE
  pyrometer_importers pyrometer_analysis pyrometer_rules simdjson::simdjson pyrometer_warnings)
# On-Demand is inlined into its user: without this it would run without vector instructions and be a
# limit too easy to beat.
set_source_files_properties(analyze/bare_walk.cpp PROPERTIES COMPILE_OPTIONS -march=native)
