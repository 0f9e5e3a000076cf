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
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME output.schema
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_report_schema
          $<TARGET_FILE:render_sample>)
add_test(NAME output.goldens
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_report_goldens
          $<TARGET_FILE:render_sample>)
set_tests_properties(output.schema output.goldens PROPERTIES TIMEOUT 120 LABELS unit)

pyrometer_test(output_test
  SOURCES
    src/cost/economy_test.cpp
    src/cost/price_table_test.cpp
    src/cost/price_test.cpp
    src/output/code_lines_test.cpp
    src/output/display_test.cpp
    src/output/exposition_test.cpp
    src/output/page_test.cpp
    src/output/report_test.cpp
    src/output/units_test.cpp
    tests/support/sample_analysis.cpp
  LIBS pyrometer_output nlohmann_json::nlohmann_json)
