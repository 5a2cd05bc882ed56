"""Text for people: counts with their nouns, row numbers, and text from files without control characters."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

# Characters that control a terminal, change the direction of text or break lines; and halves of characters.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
WITHIN_LINE = re.compile(f"(?!\\t|\\r?\\n){UNSEEN.pattern}")  # of them, those that text with lines must not have


def shown(value: Any, unseen: re.Pattern[str] = UNSEEN) -> str:
    r"""Format a value for people, with escapes in place of characters that they cannot see.

    >>> print(shown("ham\x1b[2J\n"))
    ham\x1b[2J\n
    """
    return unseen.sub(lambda found: found[0].encode("unicode_escape").decode(), str(value))


def count(number: int, what: str, many: str | None = None) -> str:
    """Format a count with its noun.

    >>> count(1, "class", "classes"), count(2000, "row")
    ('1 class', '2,000 rows')
    """
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def some(rows: Any) -> str:
    """Format the number of rows, and the first row numbers.

    >>> some(range(20)), some([7])
    ('20 rows: 0, 1, 2, 3, 4, 5, 6, 7, …', 'row 7')
    """
    shown = ", ".join(str(int(row)) for row in rows[:8]) + (", …" if len(rows) > 8 else "")
    return f"{len(rows)} rows: {shown}" if len(rows) > 1 else f"row {shown}"


def aligned(weights: Sequence[float]) -> list[str]:
    """Format numbers with signs and the same number of decimals: 6 digits of the largest, 3 of the smallest.

    >>> aligned([12.5, -0.125]), aligned([3.0, -2.0]), aligned([1e-20, 0.0])
    (['+12.5000', '-0.1250'], ['+3', '-2'], ['+1e-20', '+0'])
    """
    if all(weight.is_integer() for weight in weights):
        decimals = 0
    else:
        sizes = [math.floor(math.log10(abs(weight))) for weight in weights if weight]
        decimals = max(0, 5 - max(sizes), 2 - min(sizes))
    if decimals > 9 or max(map(abs, weights), default=0.0) >= 1e15:
        return [f"{weight:+.6g}" for weight in weights]
    return [f"{weight:+.{decimals}f}" for weight in weights]
