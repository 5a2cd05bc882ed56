"""Find where the records of a CSV text begin, so that pieces of it can be parsed in parallel."""

from __future__ import annotations

from perceptrons.core.jit.compiled import Compiled
from perceptrons.core.parse.bits import U

ONE = U(1)
LF, CR = 10, 13
NO_QUOTE = 256  # a quote that matches no byte


@Compiled
def records(text, delimiter, quote, stop):
    """Skip up to `stop` records; returns how many were complete, where the next begins, and the line feeds before it.

    As in Arrow, blank lines are not records, and a quote has a meaning only at the start of a field.
    """
    size, at, found, lines = U(text.size), U(0), 0, 0
    while True:
        while at < size and (text[at] == LF or text[at] == CR):
            lines += text[at] == LF
            at += ONE
        begin, lines_before = at, lines
        if found == stop:
            return found, begin, lines_before
        field, quoted, whole = True, False, False
        while at < size and not whole:
            byte = text[at]
            at += ONE
            if quoted:
                if byte == quote:
                    if at < size and text[at] == quote:
                        at += ONE
                    else:
                        quoted = False
                lines += byte == LF
            elif byte == LF or byte == CR:
                if byte == CR and at < size and text[at] == LF:
                    byte = text[at]
                    at += ONE
                lines += byte == LF
                whole = True
            else:
                quoted = field and byte == quote
                field = byte == delimiter
        if not whole:
            return found, begin, lines_before
        found += 1


@Compiled
def line_feeds(text):
    """Count the line feeds."""
    count = 0
    for at in range(U(text.size)):
        count += text[at] == LF
    return count
