"""The cache of Numba's dispatchers on disk. It takes the place of Numba's own, which trusts whatever it finds.

Numba's own cache fails in every process once a file is damaged or the disk is full. Two processes that compile at once
can make it call code for other types. Here a file that is not as it was written is compiled anew, and a function that
cannot be kept is compiled in every process.

This relies on private parts of Numba. A version that has changed them goes without a cache: every error is a miss.
"""

from __future__ import annotations

import logging
import pickle
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from perceptrons.core.jit import native, objects


class Cache(NullCache):
    """What a dispatcher asks for code before it compiles."""

    def __init__(self, compiled: Any) -> None:
        """Make a cache for a `Compiled`."""
        self.compiled = compiled

    def load_overload(self, *args: Any) -> Any:
        """Return the code for a signature, or None."""
        try:
            signature, context = args
            kept = objects.read(self._key(signature))
            if kept is None:
                return None
            context.refresh()
            types, code = pickle.loads(kept[0])  # `objects` has checked that nobody else wrote it
            # Different types may have the same name, such as tuples of two modules.
            return CompileResult._rebuild(context, *code) if types == signature else None
        except Exception:
            return self._failed("load")

    def save_overload(self, *args: Any) -> None:
        """Keep the code for a signature."""
        try:
            signature, result = args
            if not result.library.has_dynamic_globals:  # addresses in this process
                objects.write(self._key(signature), (dumps((signature, result._reduce())),))
        except Exception:
            self._failed("keep")

    def _key(self, signature: Any) -> objects.Key:
        return native.key_of(self.compiled, ("numba", repr(signature)))

    def _failed(self, verb: str) -> None:
        name = self.compiled.function.__name__
        logging.getLogger("perceptrons").debug("cannot %s the code of %s", verb, name, exc_info=True)
