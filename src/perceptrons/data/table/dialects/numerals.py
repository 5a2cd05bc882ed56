"""Numbers as people write them: 1,200 or 1.200,5 or $12 or 10 % or (3)."""

from __future__ import annotations

import re
from functools import cache

MONEY = r"(?:[$€£¥]|USD|EUR|GBP|CHF)"
GROUPS = {".": ",'_ \u00a0\u202f", ",": ".'_ \u00a0\u202f"}  # between groups of three digits, by decimal point


@cache
def pattern(decimal: str) -> re.Pattern[str]:
    """The numbers that `parsed` reads."""
    point = re.escape(decimal)
    digits = rf"(?:\d{{1,3}}(?:(?P<group>[{GROUPS[decimal]}])\d{{3}}(?:(?P=group)\d{{3}})*)?|\d+)"
    number = rf"(?P<number>(?:{digits}(?:{point}\d*)?|{point}\d+)(?:[eE][-+]?\d+)?)"
    signed = rf"(?P<sign>[-+−]?)\s*{MONEY}?\s*(?P<inner>[-+−]?)\s*{number}"
    return re.compile(rf"(?P<open>\()?\s*{signed}\s*(?:%|‰|{MONEY})?\s*(?(open)\))", re.ASCII | re.IGNORECASE)


def parsed(text: str, decimal: str = ".") -> float | None:
    """Read a number; signs of money and per cent are left out.

    Parameters
    ----------
    text : str
    decimal : {".", ","}
        The decimal point.

    Returns
    -------
    float or None
        None if the text is not a number.

    Examples
    --------
    >>> parsed("$1,200.50"), parsed("1.200,5", ","), parsed("10 %"), parsed("(3)"), parsed("1,20")
    (1200.5, 1200.5, 10.0, -3.0, None)
    """
    found = pattern(decimal).fullmatch(text.strip())
    if found is None or (found["sign"] and found["inner"]):
        return None
    plain = found["number"]
    if found["group"]:
        plain = plain.replace(found["group"], "")
    value = float(plain.replace(decimal, "."))
    negative = (found["sign"] in ("-", "−")) + (found["inner"] in ("-", "−")) + (found["open"] is not None)
    return -value if negative % 2 else value
