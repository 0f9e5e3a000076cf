pyrometer_test(test_passes
  SOURCES
    src/analysis/kernel_classes_test.cpp
    src/analysis/name_pattern_test.cpp
  LIBS pyrometer_analysis)
