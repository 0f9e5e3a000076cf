pyrometer_test(recordings_test
  SOURCES tests/diagnosis/recordings_test.cpp
  LIBS pyrometer_rules pyrometer_importers)
