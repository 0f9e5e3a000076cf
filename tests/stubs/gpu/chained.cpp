// An injection of somebody else.
#include <cstdio>

extern "C" int InitializeInjection() {
  std::puts("chained");
  std::fflush(stdout);
  return 1;
}
