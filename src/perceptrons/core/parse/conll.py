"""Where tokens and their columns lie in a text of one token a line."""

from __future__ import annotations

from perceptrons.core.jit.compiled import Compiled
from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.parse.bits import PLAIN, U, low_zeros, within

TAB, FEED, RETURN, SPACE, COMMENT, MINUS, DOT = 9, 10, 13, 32, 35, 45, 46
BLANKS = 10  # in place of a separator: runs of spaces and tabs. (A line feed: no byte of a line is.)
FINE, WRONG_COUNT, UNEVEN, EMPTY, WRONG_ID = range(5)  # why a text is refused
TOKEN, PASSED_OVER, REFUSED = range(3)  # what a line is that is not blank
DOCUMENT = (45, 68, 79, 67, 83, 84, 65, 82, 84, 45)  # -DOCSTART-
NOT_WANTED = 0xFFFFFFFF
ONE = U(1)


@register_jitable(**PLAIN)
def line_feed(text, p):
    """Where the first line feed at or after text[p] is; one must follow."""
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
    """Where the digits from text[p] on end; a line feed must follow."""
    while 48 <= text[p] <= 57:
        p += ONE
    return p


@register_jitable(**PLAIN)
def line_is(text, p, end, separator, conllu):
    """What a line is that is not blank. No tokens: comments, ranges of words (3-4), empty nodes (5.1); -DOCSTART-."""
    if not conllu:
        return PASSED_OVER if text[p] == MINUS and begins_document(text, p, end, separator) else TOKEN
    if text[p] == COMMENT:
        return PASSED_OVER
    stop = p
    while stop < end and text[stop] != TAB:
        stop += ONE
    if stop == p or stop == end:  # whose columns are wrong
        return TOKEN
    middle = after_digits(text, p)
    if middle == stop:
        return TOKEN
    two = middle > p and (text[middle] == MINUS or text[middle] == DOT) and middle + ONE < stop
    return PASSED_OVER if two and after_digits(text, middle + ONE) == stop else REFUSED


@Compiled
def split(text, begin, end, separator, conllu, wanted, more, begins, lengths, line_begins, line_ends, bounds, counts):
    """Find the tokens of text[begin:end], whole lines; fills the five arrays after `more` and updates counts.

    wanted: for each column the row of `begins` and `lengths` that it goes to, or NOT_WANTED. more: lines may have
    further columns, all as many as the first. Sentences end at blank lines, at -DOCSTART- and at the end. counts:
    tokens, sentences, columns of the first token.
    Returns why it stopped, where the line of the fault begins, and how many columns it has, or which is empty.
    """
    n, done = U(counts[0]), U(counts[1])
    n_columns = U(wanted.size)
    at, stop = U(begin), U(end)
    while at < stop:
        feed = line_feed(text, at)
        line, p = at, at
        last = feed - ONE if feed > at and text[feed - ONE] == RETURN else feed
        at = feed + ONE
        while p < last and is_blank(text[p]):
            p += ONE
        blank = p == last
        if separator != BLANKS:
            p = line
        what = PASSED_OVER if blank else line_is(text, p, last, separator, conllu)
        passed_over = what == PASSED_OVER
        if what == REFUSED:
            return WRONG_ID, line, U(0)
        if passed_over and (blank or not conllu) and n > bounds[done]:
            done += ONE
            bounds[done] = n
        if passed_over:
            continue
        line_begins[n], line_ends[n] = line, last
        k = U(0)
        while True:
            field = p
            if separator == BLANKS:
                while p < last and not is_blank(text[p]):
                    p += ONE
            else:
                while p < last and text[p] != separator:
                    p += ONE
            if k < n_columns:
                if p == field:
                    return EMPTY, line, k
                row = wanted[k]
                if row != NOT_WANTED:
                    begins[U(row), n] = field
                    lengths[U(row), n] = p - field
            k += ONE
            if separator == BLANKS:
                while p < last and is_blank(text[p]):
                    p += ONE
                if p == last:
                    break
            elif p == last:
                break
            else:
                p += ONE
        if k < n_columns or (k > n_columns and not more):
            return WRONG_COUNT, line, k
        if n == U(0):
            counts[2] = k
        elif k != counts[2]:
            return UNEVEN, line, k
        n += ONE
    if n > bounds[done]:
        done += ONE
        bounds[done] = n
    counts[0], counts[1] = n, done
    return FINE, at, U(0)
