// Has nothing of its own: CMake precompiles headers for a target that has a source.
