pyrometer_test(cli_test
  SOURCES
    src/cli/failure_words_test.cpp
    src/cli/override_option_test.cpp
    src/cli/text_test.cpp
    src/cli/tune_rows_test.cpp
  LIBS pyrometer_cli)
