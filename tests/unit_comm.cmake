pyrometer_test(comm_test
  SOURCES
    src/analysis/interval_set_test.cpp
  LIBS pyrometer_analysis)
