pyrometer_test(test_passes
  SOURCES
    src/analysis/confidence_test.cpp
    src/analysis/copies_test.cpp
    src/analysis/kernel_classes_test.cpp
    src/analysis/kernels_test.cpp
    src/analysis/launch_test.cpp
    src/analysis/memory_passes_test.cpp
    src/analysis/name_pattern_test.cpp
    src/analysis/ops_test.cpp
    src/analysis/passes_property_test.cpp
    src/analysis/patterns_test.cpp
    src/analysis/pauses_test.cpp
    src/analysis/input_waits_test.cpp
    src/analysis/run_counters_test.cpp
    src/analysis/statistics_test.cpp
    src/analysis/steps_test.cpp
    src/analysis/syncs_test.cpp
    tests/support/random_timeline.cpp
  LIBS pyrometer_analysis)

pyrometer_test(test_passes_traces
  SOURCES src/analysis/passes_traces_test.cpp
  LIBS pyrometer_importers pyrometer_analysis)
