pyrometer_test(recording_test
  SOURCES
    src/recording/recording_test.cpp
    src/recording/damaged_recording_test.cpp
    src/recording/progress_test.cpp
    src/recording/time_map_test.cpp
  LIBS pyrometer_recording)
