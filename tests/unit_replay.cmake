pyrometer_test(replay_test
  SOURCES
    src/analysis/dilation_test.cpp
    src/analysis/replay_property_test.cpp
    src/analysis/replay_test.cpp
    tests/support/random_timeline.cpp
  LIBS pyrometer_analysis)
pyrometer_test(replay_traces_test
  SOURCES src/analysis/replay_traces_test.cpp
  LIBS pyrometer_importers pyrometer_analysis)
