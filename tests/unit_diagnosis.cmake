pyrometer_test(recordings_test
  SOURCES tests/diagnosis/recordings_test.cpp
  LIBS pyrometer_rules pyrometer_importers)

pyrometer_test(run_rules_test
  SOURCES
    tests/diagnosis/naive_mistakes_test.cpp
    tests/diagnosis/run_rules_test.cpp
    tests/support/run_script.cpp
  LIBS pyrometer_rules)
