"""Text from files, made harmless: labels, names and messages may hold characters that control a terminal."""

from __future__ import annotations

import re
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
