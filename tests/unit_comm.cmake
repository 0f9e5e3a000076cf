pyrometer_test(comm_test
  SOURCES
    src/analysis/balance_test.cpp
    src/analysis/clock_align_test.cpp
    src/analysis/comm_match_test.cpp
    src/analysis/comm_names_test.cpp
    src/analysis/comm_pass_test.cpp
    src/analysis/comm_sequence_test.cpp
    src/analysis/comm_traces_test.cpp
    src/analysis/interval_set_test.cpp
    tests/support/random_timeline.cpp
    tests/support/simulated_job.cpp
  LIBS pyrometer_importers pyrometer_analysis)
