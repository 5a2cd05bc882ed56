"""What shards of every kind have in common."""

from __future__ import annotations

import threading
from typing import Any


class Locked:
    """Something that a worker holds, and that one call uses at a time."""

    touched: Any = None  # numbers of all features that occur, if there are very many others

    @property
    def lock(self) -> Any:
        """Held while the shard is in use: a call that was given up may still run when the next one begins."""
        return self.__dict__.setdefault("_lock", threading.RLock())
