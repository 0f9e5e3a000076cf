pyrometer_test(tui_test
  SOURCES
    src/tui/graph_test.cpp
    src/tui/grid_test.cpp
    src/tui/history_test.cpp
    src/tui/keys_test.cpp
    src/tui/process_list_test.cpp
    src/tui/screen_test.cpp
    src/tui/target_test.cpp
  LIBS pyrometer_tui)
# On a terminal, with a simulated machine.
add_test(NAME screen.top COMMAND Python3::Interpreter
  ${CMAKE_CURRENT_SOURCE_DIR}/screen/top_test.py $<TARGET_FILE:pyrometer>)
add_test(NAME screen.goldens COMMAND Python3::Interpreter
  ${CMAKE_CURRENT_SOURCE_DIR}/screen/run_screens --program $<TARGET_FILE:pyrometer>)
set_tests_properties(screen.top screen.goldens PROPERTIES
  SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS screen)
