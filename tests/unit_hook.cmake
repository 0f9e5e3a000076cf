# The Python hook, with a stand-in for the injected library that writes what it is told to a file.
# Debian's torch runs real trainings on the CPU; without it those tests are skipped by name.
foreach(abi 2 99)
  add_library(fake_hook_library_${abi} MODULE ${PROJECT_SOURCE_DIR}/python/tests/fake_library.cpp)
  target_compile_definitions(fake_hook_library_${abi} PRIVATE FAKE_ABI=${abi})
  target_include_directories(fake_hook_library_${abi} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(fake_hook_library_${abi} PRIVATE pyrometer_warnings)
endforeach()

find_program(PYROMETER_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT PYROMETER_SYSTEM_PYTHON)
  set(PYROMETER_SYSTEM_PYTHON ${Python3_EXECUTABLE})
endif()
# Python is not sanitized: it cannot load a library that is.
set(no_sanitized_library OFF)
if(PYROMETER_SANITIZE)
  set(no_sanitized_library ON)
endif()
file(GLOB hook_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/tests/*_test.py)
foreach(file IN LISTS hook_tests)
  get_filename_component(name ${file} NAME_WE)
  add_test(NAME hook.${name} COMMAND ${PYROMETER_SYSTEM_PYTHON} ${file})
  set_tests_properties(hook.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS hook
    DISABLED ${no_sanitized_library}
    ENVIRONMENT "FAKE_LIBRARY=$<TARGET_FILE:fake_hook_library_2>;FAKE_LIBRARY_OTHER_ABI=$<TARGET_FILE:fake_hook_library_99>;PYTHONDONTWRITEBYTECODE=1")
endforeach()
