"""Templates and labels for property tests."""

import numpy as np
from hypothesis import strategies as st

from perceptrons.data.token.templates import PLAIN, SIZED

COLUMNS = ["word", "pos", "a.b", "ä-1"]
CALLS = st.one_of(
    st.sampled_from(sorted(PLAIN)).map(lambda name: f".{name}()"),
    st.tuples(st.sampled_from(sorted(SIZED)), st.integers(1, 9)).map(lambda call: f".{call[0]}({call[1]})"),
)
PARTS = st.builds(
    lambda name, offset, calls: f"{name}[{offset}]{''.join(calls)}",
    st.sampled_from(COLUMNS),
    st.integers(-3, 3),
    st.lists(CALLS, max_size=2),
)
TEXTS = st.lists(PARTS, min_size=1, max_size=4).map(" & ".join)
LABELS = [*(f"{prefix}-{kind}" for prefix in "BILUES" for kind in ("A", "B-C")), "B", "I", "E", "S", "O"]


def coded(sequences):
    """Codes, labels by number, and bounds."""
    labels = sorted({label for sequence in sequences for label in sequence})
    codes = np.array([labels.index(label) for sequence in sequences for label in sequence], dtype=np.uint32)
    return codes, labels, np.cumsum([0, *map(len, sequences)]).astype(np.uint64)
