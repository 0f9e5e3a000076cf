// toml++, as all of Pyrometer uses it: header-only, so nothing to link, and errors come back as
// values. Its assertions are off: on damaged input they fail just before the code that reports the
// damage.
#pragma once

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#ifndef TOML_ASSERT
#define TOML_ASSERT(expression) static_cast<void>(0)
#endif
#include <toml++/toml.h>
