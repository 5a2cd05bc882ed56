r"""A slow twin of the svmlight parser: the grammar as regular expressions, and Python's own `float`.

    file    = lines separated by "\n"; a "\r" before it, or at the end of the file, belongs to the line's end
    line    = ws* [record] ws* ["#" anything]
    record  = label [ws+ "qid:" digits] (ws+ index ":" value)*
    number  = ["+" | "-"] (digits ["." [digits]] | "." digits) [("e" | "E") ["+" | "-"] digits]
    ws      = " " | "\t"

Labels and values are numbers that do not overflow. Indices increase within a line. A token is a longest run of bytes
that are neither white space nor "#" nor a line's end: an error lies in the first token that makes no sense.
"""

from __future__ import annotations

import re
from math import isinf
from typing import NamedTuple

import numpy as np

NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
QID = re.compile(rb"qid:[0-9]+")
INDEX = re.compile(rb"[0-9]+")
TOKEN = re.compile(rb"[^ \t]+")
WIDEST = 2**28  # indices are smaller, unless the number of features is known


class Refused(Exception):
    """The first error: line and column count from 1. What is said of a whole row is said of its label."""

    def __init__(self, line, token):
        self.line, self.column, self.token = line, token.start() + 1, token[0]
        super().__init__(self.line, self.column, self.token)


class Parsed(NamedTuple):
    """CSR arrays and labels of a file."""

    values: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    y: np.ndarray


def number(token):
    """The number that a token is, or None."""
    if not NUMBER.fullmatch(token) or isinf(float(token)):
        return None
    return float(token)


def feature(token, least, limit):
    """Index and value of a token, or None; the index is at least `least` and below `limit`."""
    index, colon, value = token.partition(b":")
    if not colon or not INDEX.fullmatch(index) or number(value) is None:
        return None
    return (int(index), number(value)) if least <= int(index) < limit else None


def parse(data, *, zero_based=True, n_features=None):
    """All rows of a file, given as bytes."""
    values, indices, indptr, labels = [], [], [0], []
    first = 0 if zero_based else 1
    limit, keep = (WIDEST, WIDEST) if n_features is None else (2**63, n_features)
    for n, line in enumerate(data.split(b"\n"), start=1):
        tokens = list(TOKEN.finditer(line.removesuffix(b"\r").partition(b"#")[0]))
        if not tokens:
            continue
        label, *features = tokens
        if number(label[0]) is None:
            raise Refused(n, label)
        if features and QID.fullmatch(features[0][0]):
            del features[0]
        least, sq_norm = first, 0.0
        for token in features:
            found = feature(token[0], least, limit)
            if found is None:
                raise Refused(n, token)
            index, value = found
            least = index + 1
            if index - first < keep:
                indices.append(index - first)
                values.append(value)
                sq_norm += value * value
        if isinf(sq_norm):
            raise Refused(n, label)
        indptr.append(len(values))
        labels.append(number(label[0]))
    return Parsed(
        np.array(values, dtype=np.float64),
        np.array(indices, dtype=np.uint32),
        np.array(indptr, dtype=np.uint64),
        np.array(labels, dtype=np.float64),
    )
