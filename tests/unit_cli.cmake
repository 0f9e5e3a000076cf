pyrometer_test(cli_test
  SOURCES src/cli/text_test.cpp
  LIBS pyrometer_cli)
