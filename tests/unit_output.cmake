pyrometer_test(json_writer_test
  SOURCES
    src/base/json_writer_test.cpp
  LIBS pyrometer_base nlohmann_json::nlohmann_json)

# Prints reports on hand-made jobs, to look at and for the check of the JSON schema.
add_executable(render_sample
  ${PROJECT_SOURCE_DIR}/tests/support/render_sample.cpp
  ${PROJECT_SOURCE_DIR}/tests/support/sample_analysis.cpp)
target_link_libraries(render_sample PRIVATE
  pyrometer_output pyrometer_test_support pyrometer_warnings)
