// Named properties of the process and its devices, as kInfo records: docs/concepts/capture.md.
#pragma once

#include "ring/writer.h"

namespace pyrometer::inject {

// False where the ring had no room for it.
bool put_property(ring::Writer& writer, const char* key, const char* value);

// "gpu.<ordinal>.…" and CUDA's versions, once the driver is up. False: not now, ask again.
bool put_device_properties(ring::Writer& writer);

}  // namespace pyrometer::inject
