"""A vocabulary of the features that templates make of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from perceptrons.core.parse import interning
from perceptrons.core.parse.interning import EDGE, FIRST_MARKER, UNKNOWN
from perceptrons.data.arrays import readonly
from perceptrons.data.files import DataError
from perceptrons.data.token.sequences import Sequences
from perceptrons.data.token.template_sets import resolve
from perceptrons.data.token.templates import Template, parse
from perceptrons.data.token.tokens import Tokens

FEWEST_SLOTS = 1 << 12  # in a hash table
LARGEST = 1 << 31  # the most features

State = tuple[dict[str, Any], dict[str, list[str]], dict[str, npt.NDArray[Any]]]


class Mark(NamedTuple):
    """The size of a vocabulary at some time."""

    n_features: int
    n_values: tuple[int, ...]


class TemplateVocabulary:
    """Number the features that templates make of tokens, by first occurrence. No two features share a number.

    Each distinct string is processed once: the values of a view (a column after changes such as ``lower``) have codes.
    A feature is then the number of its template and the codes of its parts. One compiled loop over all tokens looks
    features up.

    Parameters
    ----------
    templates : str or list of templates
        The name of a ready-made set, or templates or their texts.

    Examples
    --------
    >>> vocabulary = TemplateVocabulary(["word[0]", "word[-1] & word[0]"])
    >>> rows = vocabulary.sequences(Tokens.of([["the", "cat"], ["the"]], ["word"]), grow=True)
    >>> rows.indices
    array([0, 1, 2, 3, 0, 1], dtype=uint32)
    >>> vocabulary.names([0, 1, 3])
    ['word[0]=the', 'word[-1] & word[0]=_B-1|the', 'word[-1] & word[0]=the|cat']
    """

    kind = "templates"

    def __init__(self, templates: str | Sequence[Template | str]) -> None:
        self.templates = resolve(templates)
        parts = [part for template in self.templates for part in template.parts]
        self._views = list(dict.fromkeys(part.view for part in parts))
        self._values: list[dict[str, int]] = [{} for _ in self._views]  # for each view, the codes of its values
        views = {view: v for v, view in enumerate(self._views)}
        cells = {cell: c for c, cell in enumerate(dict.fromkeys(parts))}
        self._cells = np.array([(views[cell.view], cell.offset) for cell in cells], dtype=np.int64)
        self._parts = np.array([cells[part] for part in parts], dtype=np.uint32)
        self._ends = np.cumsum([len(template.parts) for template in self.templates], dtype=np.uint32)
        self._seen = [[views[part.view] for part in template.parts] for template in self.templates]
        self._width = 1 + max(len(template.parts) for template in self.templates)
        self.n_features = 0
        self._slots = np.zeros(FEWEST_SLOTS, dtype=np.uint64)
        self._keys = np.empty((FEWEST_SLOTS // 2, self._width), dtype=np.uint32)

    @property
    def columns(self) -> list[str]:
        """The columns that tokens must have."""
        return list(dict.fromkeys(view.column for view in self._views))

    def check(self, tokens: Tokens) -> None:
        """Refuse tokens that lack a column, or whose parts do not fit together."""
        tokens.check()
        for template in self.templates:
            for part in template.parts:
                if part.view.column not in tokens.columns:
                    names = ", ".join(tokens.columns)
                    raise DataError(f"template {template} needs a column {part.view.column!r}: the columns are {names}")

    def sequences(self, tokens: Tokens, grow: bool) -> Sequences:
        """Convert tokens to rows of features. With `grow` new features get numbers; otherwise they are left out."""
        self.check(tokens)
        if not grow:
            return self._rows(tokens, grow)
        mark = self.mark()
        try:
            return self._rows(tokens, grow)
        except BaseException:
            self._forget(mark)
            raise

    def _rows(self, tokens: Tokens, grow: bool) -> Sequences:
        n = tokens.n_tokens
        codes = np.empty((len(self._views), n), dtype=np.uint32)
        for v, view in enumerate(self._views):
            column = tokens.columns[view.column]
            codes[v] = self._coded(v, view.of(column.types), grow)[column.codes]
        indices = np.empty(n * len(self.templates), dtype=np.uint32)
        indptr, counts = np.zeros(n + 1, dtype=np.uint64), np.zeros(4, dtype=np.uint64)
        values = np.empty(len(self._cells), dtype=np.uint32)
        hashes = np.empty(len(self.templates), dtype=np.uint64)
        counts[2] = self.n_features
        fixed = readonly(codes), readonly(tokens.bounds), self._cells, self._parts, self._ends, grow
        while True:
            done = interning.number(*fixed, self._slots, self._keys, values, hashes, indices, indptr, counts)
            self.n_features = int(counts[2])
            if done == tokens.n_sequences:
                break
            self._make_room(self.n_features + len(self.templates))
        nnz = int(counts[3])
        found = indices if nnz == indices.size else indices[:nnz].copy()
        return Sequences(readonly(found), None, readonly(indptr), readonly(tokens.bounds))

    def _coded(self, v: int, values: list[str], grow: bool) -> npt.NDArray[np.uint32]:
        """The codes of values of a view."""
        known = self._values[v]
        if grow:
            for value in values:
                if value not in known:
                    known[value] = len(known)
            if len(known) >= FIRST_MARKER:
                raise DataError(f"{self._views[v]} has more than {FIRST_MARKER:,} values: leave out its templates")
            return np.fromiter(map(known.__getitem__, values), dtype=np.uint32, count=len(values))
        none = int(UNKNOWN)
        return np.array([known.get(value, none) for value in values], dtype=np.uint32)

    def _make_room(self, n: int) -> None:
        """Double the room for features, or make room for n."""
        if n > LARGEST:
            raise DataError(f"there are more than {LARGEST:,} features: use fewer templates")
        size = max(2 * len(self._slots), 1 << (2 * n - 1).bit_length())
        keys = np.empty((size // 2, self._width), dtype=np.uint32)
        keys[: self.n_features] = self._keys[: self.n_features]
        slots = np.zeros(size, dtype=np.uint64)
        interning.spread(self._slots, slots)
        self._slots, self._keys = slots, keys

    def names(self, ids: Iterable[int]) -> list[str]:
        """Name features."""
        numbers, values, found = list(ids), [list(known) for known in self._values], []
        for number in numbers:
            if not 0 <= number < self.n_features:
                raise DataError(f"feature {number} does not exist: there are {self.n_features} features")
        templates = list(map(str, self.templates))
        for t, *codes in self._keys[np.array(numbers, dtype=np.intp)].tolist():
            pairs = zip(self._seen[t], codes, strict=False)
            texts = [values[v][code] if code < FIRST_MARKER else marker(code) for v, code in pairs]
            found.append(f"{templates[t]}={'|'.join(texts)}")
        return found

    # -- removing features --------------------------------------------------------------------------------------

    def mark(self) -> Mark:
        """Remember the current state for `back_to`."""
        return Mark(self.n_features, tuple(map(len, self._values)))

    def back_to(self, mark: Mark) -> None:
        """Remove all features and values that were added since a mark."""
        if mark != self.mark():
            self._forget(mark)

    def _forget(self, mark: Mark) -> None:
        for known, n in zip(self._values, mark.n_values, strict=True):
            while len(known) > n:
                known.popitem()
        self._index(self._keys[: mark.n_features])  # even if none is new: Ctrl-C may have come before they were counted

    def _index(self, keys: npt.NDArray[np.uint32]) -> None:
        """Replace all features by these."""
        n = len(keys)
        size = max(FEWEST_SLOTS, 1 << (2 * max(n, 1) - 1).bit_length())
        room = np.empty((size // 2, self._width), dtype=np.uint32)
        room[:n] = keys
        slots = np.zeros(size, dtype=np.uint64)
        again = int(interning.index(room, 0, n, self._ends, slots))
        if again < n:
            raise ValueError(f"feature {again} occurs twice")
        self._slots, self._keys, self.n_features = slots, room, n

    def subset(self, mask: npt.NDArray[np.bool_]) -> TemplateVocabulary:
        """Make a vocabulary of the features that a mask marks, in the same order."""
        if mask.shape != (self.n_features,):
            raise ValueError(f"mask must have shape ({self.n_features},), got {mask.shape}")
        keys = self._keys[: self.n_features][mask]
        smaller = TemplateVocabulary(self.templates)
        used = [np.zeros(len(known), dtype=bool) for known in self._values]
        for rows, k, v in self._places(keys):
            code = keys[rows, k]
            used[v][code[code < FIRST_MARKER]] = True
        self._recode(keys, [(np.cumsum(each) - 1).astype(np.uint32) for each in used])
        for v, known in enumerate(self._values):
            values = [value for value, is_used in zip(known, used[v].tolist(), strict=True) if is_used]
            smaller._values[v] = {value: code for code, value in enumerate(values)}
        smaller._index(keys)
        return smaller

    def _recode(self, keys: npt.NDArray[np.uint32], renumbered: list[npt.NDArray[np.uint32]]) -> None:
        """Change the codes of values in keys, in place: `renumbered` has the new codes of each view."""
        for rows, k, v in self._places(keys):
            code = keys[rows, k]
            inside = code < FIRST_MARKER
            code[inside] = renumbered[v][code[inside]]
            keys[rows, k] = code

    def _places(self, keys: npt.NDArray[np.uint32]) -> list[tuple[npt.NDArray[np.intp], int, int]]:
        """For each part of each template: the rows of keys with the template, the part's column, and its view."""
        found = []
        for t, views in enumerate(self._seen):
            rows = np.flatnonzero(keys[:, 0] == t)
            found += [(rows, k, v) for k, v in enumerate(views, start=1)]
        return found

    # -- joining --------------------------------------------------------------------------------------------------

    @classmethod
    def joined(cls, states: Sequence[State]) -> tuple[Self, list[npt.NDArray[np.uint32]]]:
        """Join vocabularies with the same templates.

        Parameters
        ----------
        states : list
            The `state` of each vocabulary, which is trusted; at least one.

        Returns
        -------
        vocabulary : TemplateVocabulary
            The same as if one vocabulary had read the tokens of all, one after the other.
        numbers : list of ndarray
            For each vocabulary, the new numbers of its features.
        """
        templates = states[0][0]["templates"]
        for meta, _, _ in states:
            if meta["templates"] != templates:
                raise ValueError(f"templates must be the same in all vocabularies, got {templates} and {meta}"[:300])
        found = cls(templates)
        return found, [found._add(lists, arrays["keys"]) for _, lists, arrays in states]

    def _add(self, lists: dict[str, list[str]], keys: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Add the features of another vocabulary; returns their numbers."""
        given = keys.copy()
        self._recode(given, [self._coded(v, lists[str(view)], grow=True) for v, view in enumerate(self._views)])
        numbers, done = np.empty(len(given), dtype=np.uint32), 0
        while True:
            table = self._slots, self._keys, numbers
            done, n = map(int, interning.join(readonly(given), done, self.n_features, self._ends, *table))
            self.n_features = n
            if done == len(given):
                return readonly(numbers)
            self._make_room(n + 1)

    # -- model files --------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Convert the vocabulary to settings ready for JSON, lists of text that may be long, and arrays."""
        meta = {"kind": self.kind, "templates": [str(template) for template in self.templates]}
        keys = self._keys[: self.n_features].copy()
        sizes = np.array([len(views) for views in self._seen])[keys[:, 0]]
        for k in range(1, self._width):
            keys[sizes < k, k] = 0  # cells that were never set
        return (
            meta,
            {str(view): list(known) for view, known in zip(self._views, self._values, strict=True)},
            {"keys": keys},
        )

    @classmethod
    def from_state(cls, meta: Any, lists: dict[str, list[str]], arrays: dict[str, npt.NDArray[Any]]) -> Self:
        """Restore a vocabulary from its `state`; raise a ValueError if the state is not valid."""
        texts = meta.get("templates")
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"templates must be a list of texts, got {texts!r}"[:200])
        found = cls([parse(text) for text in texts])
        views = list(map(str, found._views))
        if sorted(lists) != sorted(views):
            raise ValueError(f"expected values of {', '.join(views)}, got {', '.join(lists)}"[:300])
        for v, view in enumerate(views):
            found._values[v] = {value: code for code, value in enumerate(lists[view])}
            if len(found._values[v]) < len(lists[view]):
                raise ValueError(f"a value of {view} occurs twice")
        keys = arrays.get("keys")
        if keys is None or keys.dtype != np.uint32 or keys.ndim != 2 or keys.shape[1] != found._width:
            raise ValueError(f"keys must be a matrix of uint32 with {found._width} columns")
        if len(keys) and keys[:, 0].max() >= len(found.templates):
            raise ValueError(f"keys name a template beyond the {len(found.templates)} templates")
        if len(keys) > LARGEST:
            raise ValueError(f"there are more than {LARGEST:,} features")
        offsets = [part.offset for template in found.templates for part in template.parts]
        for (rows, k, v), offset in zip(found._places(keys), offsets, strict=True):
            code = keys[rows, k].astype(np.int64)
            distance = int(EDGE) - code
            reached = 2 * (abs(offset) - 1) + (offset > 0)  # the farthest marker on this side of the sentence
            edge = (distance >= 0) & (distance <= reached) & (distance % 2 == (offset > 0))
            if not ((code < len(found._values[v])) | edge).all():
                raise ValueError(f"keys name a value beyond those of {views[v]}")
        found._index(keys)
        return found


def marker(code: int) -> str:
    """The value at a position outside of the sentence.

    >>> marker(int(EDGE)), marker(int(EDGE) - 3)
    ('_B-1', '_B+2')
    """
    distance, after = divmod(int(EDGE) - code, 2)
    return f"_B{'+' if after else '-'}{distance + 1}"
