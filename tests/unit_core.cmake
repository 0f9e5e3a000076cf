pyrometer_test(waterfall_test
  SOURCES
    src/analysis/waterfall_test.cpp
    tests/support/random_timeline.cpp
    tests/support/waterfall_oracle.cpp
  LIBS pyrometer_analysis)
pyrometer_test(gpu_table_test
  SOURCES
    src/model/gpu_table_test.cpp
  LIBS pyrometer_model)
