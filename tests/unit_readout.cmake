pyrometer_test(readout_test
  SOURCES
    src/readout/board_test.cpp
    src/readout/choice_test.cpp
    src/readout/csv_test.cpp
    src/readout/live_test.cpp
    src/readout/snapshot_test.cpp
    src/readout/text_test.cpp
  LIBS pyrometer_readout)
pyrometer_test(field_list_test
  SOURCES
    src/cli/field_list_test.cpp
    src/cli/recorded_rows_test.cpp
    src/cli/replay_test.cpp
  LIBS pyrometer_cli)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME stat.schema
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_stat_schema
          $<TARGET_FILE:pyrometer> ${PROJECT_BINARY_DIR}/tests/stub_nvml)
set_tests_properties(stat.schema PROPERTIES TIMEOUT 120 LABELS unit)
