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


@Compiled
def quoting(text, delimiter, quote):
    """How a text uses quotes at the start of cells.

    Returns the number of quoted cells; how many go on after their last quote; line breaks inside of quoted cells; and,
    if the last one is still open, or the text ends with its quote, the line breaks in it, otherwise −1.
    """
    size, at = U(text.size), U(0)
    opened, odd, breaks, within, field, quoted = 0, 0, 0, 0, True, False
    while at < size:
        byte = text[at]
        at += ONE
        if quoted:
            if byte == quote:
                if at < size and text[at] == quote:
                    at += ONE
                elif at < size:
                    quoted = False
                    breaks += within
                    odd += text[at] != delimiter and text[at] != LF and text[at] != CR
            within += byte == LF
        else:
            quoted = field and byte == quote
            if quoted:
                opened += 1
                within = 0
            field = byte == delimiter or byte == LF or byte == CR
    return opened, odd, breaks, within if quoted else -1


@Compiled
def same_width(text, delimiter):
    """Whether all lines that end with a line feed, and are not blank, have the same number of delimiters."""
    width, found, letters = -1, 0, 0
    for at in range(U(text.size)):
        byte = text[at]
        if byte == LF:
            if letters > 0:
                if width >= 0 and found != width:
                    return False
                width = found
            found, letters = 0, 0
        elif byte != CR:
            letters += 1
            found += byte == delimiter
    return width >= 0
