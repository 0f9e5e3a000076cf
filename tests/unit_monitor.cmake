pyrometer_test(monitor_test
  SOURCES
    src/monitor/capture_log_test.cpp
    src/monitor/contained_child_test.cpp
    src/monitor/duty_cycle_test.cpp
    src/monitor/keep_policy_test.cpp
    src/monitor/ring_set_test.cpp
    src/monitor/segmenter_test.cpp
    src/monitor/sync_windows_test.cpp
    src/monitor/trial_test.cpp
    tests/support/ring_records.cpp
  LIBS pyrometer_monitor)
