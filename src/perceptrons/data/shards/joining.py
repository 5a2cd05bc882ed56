"""Join what the shards of a table found: the categories of all of them, numbered as in the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from perceptrons.data.table.encoding import Encoding
from perceptrons.data.table.lexicon import Lexicon


def joined_encoding(parts: Sequence[Encoding]) -> Encoding:
    """Join the encodings of all shards of a table, after each was read.

    Categories are numbered in the order in which they first occur. So the new ones of each shard come after those of
    the shards before it, and the result is the encoding of the whole table.

    Parameters
    ----------
    parts : sequence of Encoding
        In the order of the shards. They stay as they are.

    Returns
    -------
    Encoding

    Examples
    --------
    >>> first, second = (Encoding("y", "int64", [], ["job"], [], [], seen=[("job", job)]) for job in ("cook", "nurse"))
    >>> joined_encoding([first, second, first]).seen
    [('job', 'cook'), ('job', 'nurse')]
    """
    seen = dict.fromkeys(pair for part in parts for pair in part.seen)
    lexicon = Lexicon.joined([part.lexicon for part in parts], parts[0].text_bits)
    return replace(parts[0], seen=list(seen), means=dict(parts[0].means), lexicon=lexicon)
