# `pyrometer run` from outside: that it records, and that it is harmless. Python files of run/, each
# a ctest test `run.<name>`; they drive the built program on the simulated GPU of unit_inject.cmake.
add_library(jumping_clock MODULE stubs/clock/jumping_clock.cpp)
target_link_libraries(jumping_clock PRIVATE ${CMAKE_DL_LIBS} pyrometer_warnings)

file(GLOB run_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/run/*_test.py)
foreach(file IN LISTS run_tests)
  get_filename_component(name ${file} NAME_WE)
  string(REGEX REPLACE "_test$" "" name ${name})
  add_test(NAME run.${name} COMMAND Python3::Interpreter ${file})
  set_tests_properties(run.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS "run;harmless"
    ENVIRONMENT "PYROMETER_PROGRAM=$<TARGET_FILE:pyrometer>;PYROMETER_BUILD=${PROJECT_BINARY_DIR};PYROMETER_SANITIZED=${PYROMETER_SANITIZE};PYROMETER_CLOCK=$<TARGET_FILE:jumping_clock>;PYTHONDONTWRITEBYTECODE=1")
endforeach()
