"""How much memory a model may take when it is loaded: a small file can ask for much more than it holds."""

from __future__ import annotations

import math
import os

from perceptrons.data.whole import memory

ROOM = 1_200_000_000  # bytes that every file may ask for: 2^24 features, 4 classes and their averages
FACTOR = 1000  # times its own size that a larger file may ask for
VARIABLE = "PERCEPTRONS_MAX_MEMORY"


class Memory:
    """The memory that a model file may ask for. What asks for more than its arrays in the file must `take` it first."""

    def __init__(self, file_size: int, limit: int | None) -> None:
        """`limit`: in bytes, or None for one by the size of the file, which the file alone must not exceed."""
        self.needed = file_size
        if limit is not None:
            self.limit, self.whose = limit, "the limit is"
        else:
            self.limit, self.whose = max(ROOM, FACTOR * file_size), f"a file of {file_size:,} bytes may take"
            if self.limit > memory():
                self.limit, self.whose = memory(), "this machine has"
        self.take(0)

    def take(self, n_bytes: int) -> None:
        """Refuse a model that needs this much more, if that exceeds the limit. Call it before memory is allocated."""
        self.needed += n_bytes
        if self.needed > self.limit:
            raise ValueError(
                f"the model needs {self.needed:,} bytes of memory, but {self.whose} {self.limit:,}. If you trust the "
                f"file, pass max_memory={self.needed} to perceptrons.load, or set {VARIABLE}={self.needed} in the "
                "environment"
            )


def limit_of(max_memory: float | None) -> int | None:
    """The limit in bytes that the user set, by the argument or in the environment; None if neither is set."""
    given: float | str | None = os.environ.get(VARIABLE) if max_memory is None else max_memory
    if given is None:
        return None
    try:
        limit = float(given)
    except (TypeError, ValueError):
        limit = math.nan
    if isinstance(given, bool) or not limit > 0:
        name = VARIABLE if max_memory is None else "max_memory"
        raise ValueError(f"{name} must be a number of bytes > 0, got {given!r}")
    return int(min(limit, 2**63))
