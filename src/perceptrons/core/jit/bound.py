"""Call a compiled function again and again with arguments of the same types, for a tenth of a microsecond.

Numba's dispatcher looks at the type of each argument in each call, which takes two microseconds for a pass. The entry
point behind it does not look: whoever calls it must pass arguments of the types for which it was made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perceptrons.core.jit.compiled import Compiled


def bound(compiled: Compiled, *args: Any, rule: object = None) -> Callable[..., Any]:
    """Return the compiled function for arguments of the types of `args`, which may be of other values later.

    rule: the rule among the arguments, if there is one.
    """
    from numba import typeof

    dispatcher, types = compiled.dispatcher_for(rule, *args), tuple(map(typeof, args))
    made = getattr(dispatcher, "overloads", {}).get(types)  # without Numba's lock, which Ctrl-C may leave locked
    entry: Callable[..., Any] = dispatcher.compile(types) if made is None else made.entry_point
    return entry if callable(entry) else dispatcher  # of another version of Numba
