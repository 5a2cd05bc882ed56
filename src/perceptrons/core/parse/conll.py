"""Find tokens and their columns in a text with one token a line."""

from __future__ import annotations

from perceptrons.core.jit.compiled import Compiled
from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.parse.bits import PLAIN, U, is_digit, low_zeros, within

TAB, FEED, RETURN, SPACE, COMMENT, MINUS, DOT = 9, 10, 13, 32, 35, 45, 46
BLANKS = 10  # the separator that stands for runs of spaces and tabs: a line feed, which no line contains
FINE, WRONG_COUNT, UNEVEN, EMPTY, WRONG_ID = range(5)  # why splitting stopped
TOKEN, SKIPPED, REFUSED = range(3)  # what to do with a line that is not blank
DOCUMENT = (45, 68, 79, 67, 83, 84, 65, 82, 84, 45)  # -DOCSTART-
NOT_WANTED = 0xFFFFFFFF
ONE = U(1)


@register_jitable(**PLAIN)
def line_feed(text, p):
    """The position of the first line feed at or after text[p]; there must be one."""
    while True:
        found = within(text, p, FEED, FEED)
        if found != U(0):
            return p + low_zeros(found)
        p += U(32)


@register_jitable(**PLAIN)
def is_blank(byte):
    return byte == SPACE or byte == TAB


@register_jitable(**PLAIN)
def begins_document(text, p, end, separator):
    """Whether the first field of a line is -DOCSTART-."""
    for k in range(U(10)):
        if text[p + k] != DOCUMENT[k]:
            return False
    return p + U(10) == end or is_blank(text[p + U(10)]) or text[p + U(10)] == separator


@register_jitable(**PLAIN)
def after_digits(text, p):
    """The position after the digits from text[p] on; a line feed must follow."""
    while is_digit(text[p]):
        p += ONE
    return p


@register_jitable(**PLAIN)
def line_is(text, p, end, separator, conllu):
    """Tell tokens from lines to skip: comments, ranges of words (3-4), empty nodes (5.1) and -DOCSTART-."""
    if not conllu:
        return SKIPPED if text[p] == MINUS and begins_document(text, p, end, separator) else TOKEN
    if text[p] == COMMENT:
        return SKIPPED
    stop = p
    while stop < end and text[stop] != TAB:
        stop += ONE
    if stop == p or stop == end:  # its columns are wrong, which `split` reports
        return TOKEN
    middle = after_digits(text, p)
    if middle == stop:
        return TOKEN
    joined = middle > p and (text[middle] == MINUS or text[middle] == DOT) and middle + ONE < stop
    return SKIPPED if joined and after_digits(text, middle + ONE) == stop else REFUSED


@register_jitable(**PLAIN)
def field_end(text, p, end, separator):
    """The position after the field that begins at text[p]."""
    if separator == BLANKS:
        while p < end and not is_blank(text[p]):
            p += ONE
    else:
        while p < end and text[p] != separator:
            p += ONE
    return p


@register_jitable(**PLAIN)
def after_blanks(text, p, end):
    """The position of the first byte from text[p] on that is not blank."""
    while p < end and is_blank(text[p]):
        p += ONE
    return p


@Compiled
def split(text, begin, end, separator, conllu, wanted, more, begins, lengths, line_begins, line_ends, bounds, counts):
    """Find the tokens of text[begin:end], whole lines; fills the five arrays after `more` and updates counts.

    wanted: for each column the row of `begins` and `lengths` to fill, or NOT_WANTED. more: whether lines may have
    further columns; all lines must then have the same number. Sentences end at blank lines, at -DOCSTART- and at the
    end. counts: tokens, sentences, columns of the first token (0 until it is known).
    Returns why it stopped, where the faulty line begins, and its number of columns or the column that is empty.
    """
    n, done = U(counts[0]), U(counts[1])
    n_columns = U(wanted.size)
    at, stop = U(begin), U(end)
    while at < stop:
        feed = line_feed(text, at)
        line, p = at, at
        last = feed - ONE if feed > at and text[feed - ONE] == RETURN else feed
        at = feed + ONE
        p = after_blanks(text, p, last)
        blank = p == last
        if separator != BLANKS:
            p = line
        what = SKIPPED if blank else line_is(text, p, last, separator, conllu)
        if what == REFUSED:
            return WRONG_ID, line, U(0)
        if what == SKIPPED:
            if (blank or not conllu) and n > bounds[done]:
                done += ONE
                bounds[done] = n
            continue
        line_begins[n], line_ends[n] = line, last
        k = U(0)
        while True:
            field, p = p, field_end(text, p, last, separator)
            if k < n_columns:
                if p == field:
                    return EMPTY, line, k
                row = wanted[k]
                if row != NOT_WANTED:
                    begins[U(row), n] = field
                    lengths[U(row), n] = p - field
            k += ONE
            if separator == BLANKS:
                p = after_blanks(text, p, last)
            if p == last:
                break
            if separator != BLANKS:
                p += ONE
        if k < n_columns or (k > n_columns and not more):
            return WRONG_COUNT, line, k
        if counts[2] == U(0):
            counts[2] = k
        elif k != counts[2]:
            return UNEVEN, line, k
        n += ONE
    if n > bounds[done]:
        done += ONE
        bounds[done] = n
    counts[0], counts[1] = n, done
    return FINE, at, U(0)
