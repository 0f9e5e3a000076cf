pyrometer_test(monitor_test
  SOURCES
    src/monitor/duty_cycle_test.cpp
    src/monitor/keep_policy_test.cpp
    src/monitor/segmenter_test.cpp
  LIBS pyrometer_monitor)
