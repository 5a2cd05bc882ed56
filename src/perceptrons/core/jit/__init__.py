"""How a function becomes compiled code: options, the cache on disk, calls without importing Numba."""
