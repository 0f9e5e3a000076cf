# The diagnosis benchmark: its scoring on reports made by hand, two of its scripts on the CPU, and the
# rules on the recordings that it left as regression data.
add_test(NAME bench.diagnosis.score
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/diagnosis/score_test.py)
add_test(NAME bench.diagnosis.smoke
  COMMAND ${PYROMETER_SYSTEM_PYTHON} ${PROJECT_SOURCE_DIR}/bench/diagnosis/smoke_test.py)
add_test(NAME bench.diagnosis.verdicts
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/diagnosis/verdicts_test.py)
foreach(name smoke verdicts)
  set_tests_properties(bench.diagnosis.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600
    ENVIRONMENT "PYROMETER_PROGRAM=$<TARGET_FILE:pyrometer>;PYTHONDONTWRITEBYTECODE=1")
endforeach()
set_tests_properties(bench.diagnosis.smoke PROPERTIES DISABLED ${no_sanitized_library})
set_tests_properties(bench.diagnosis.score PROPERTIES TIMEOUT 60
  ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
foreach(name score smoke verdicts)
  set_tests_properties(bench.diagnosis.${name} PROPERTIES LABELS bench)
endforeach()
