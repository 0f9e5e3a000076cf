# The Python package: python/pyrometer with the built program, on made-up GPUs, on the simulated
# NVML and within recordings.
file(GLOB package_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/tests/package/*_test.py)
foreach(file IN LISTS package_tests)
  get_filename_component(name ${file} NAME_WE)
  string(REGEX REPLACE "_test$" "" name ${name})
  add_test(NAME python.${name} COMMAND ${PYROMETER_SYSTEM_PYTHON} ${file})
  set_tests_properties(python.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 LABELS python
    ENVIRONMENT "PYROMETER_PROGRAM=$<TARGET_FILE:pyrometer>;PYROMETER_BUILD=${PROJECT_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1"
    DISABLED ${no_sanitized_library})
endforeach()

find_program(PYROMETER_MYPY mypy)
if(PYROMETER_MYPY)
  add_test(NAME python.types
    COMMAND ${PYROMETER_MYPY} --strict --python-version 3.8 --cache-dir ${PROJECT_BINARY_DIR}/mypy
            ${PROJECT_SOURCE_DIR}/python/pyrometer)
  set_tests_properties(python.types PROPERTIES TIMEOUT 120 LABELS python)
endif()
