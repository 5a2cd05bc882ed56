"""Dependency parsing: find the head of each word of a sentence, as a tree without crossing arcs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from perceptrons.core import eisner
from perceptrons.learn.structure.joint_space import read_only

Array = npt.NDArray[Any]
BEYOND, ROOT = "\0beyond", "\0root"  # not the beginning of any word or tag


class ProjectiveParsing:
    """A problem for `StructuredPerceptron`: sentences and their dependency trees.

    x is a sentence, a list of (word, tag) pairs. y is its tree, a list of heads: ``y[i]`` is the number of the word
    that word i + 1 depends on, counted from 1, or 0 for the root word. Arcs must not cross (`is_projective`). The score
    of a tree is the sum of the scores of its arcs; Eisner's algorithm finds the best tree exactly in time n³. The loss
    is the number of wrong heads.

    The features of an arc are the words and tags of its ends, the tags beside and between them, and its direction and
    distance (McDonald, Crammer & Pereira 2005). They are numbered by hashing.

    Parameters
    ----------
    n_features : int, default=2**22
        Number of features that arcs are hashed to; a power of two. Each takes 16 bytes of weights.

    Raises
    ------
    ValueError
        If `n_features` is not a power of two.

    References
    ----------
    Eisner 1996; McDonald, Crammer & Pereira 2005.

    Examples
    --------
    >>> from perceptrons import StructuredPerceptron
    >>> from perceptrons.structures import ProjectiveParsing
    >>> X = [[("dogs", "N"), ("bark", "V")], [("the", "D"), ("dog", "N"), ("bites", "V"), ("cats", "N")]]
    >>> Y = [[2, 0], [2, 3, 0, 3]]
    >>> parser = StructuredPerceptron(ProjectiveParsing(2**12), random_state=0).fit(X, Y)
    >>> parser.converged_, parser.predict([[("a", "D"), ("cat", "N"), ("sleeps", "V")]])
    (True, [[2, 3, 0]])
    """

    def __init__(self, n_features: int = 2**22) -> None:
        if n_features < 1 or n_features & (n_features - 1):
            raise ValueError(f"n_features must be a power of two, got {n_features}")
        self.n_features = n_features

    def features(self, x: Any, y: Any) -> csr_array:
        """Compute φ(x, y): how often each feature occurs in the arcs of the tree.

        Parameters
        ----------
        x : list of (word, tag)
            The sentence.
        y : list of int
            Its heads.

        Returns
        -------
        csr_array of shape (1, n_features)
            The counts.

        Raises
        ------
        ValueError
            If y is not a projective tree over the words of x.
        """
        words, tags = encoded(x)
        heads = as_heads(y)
        if len(heads) != len(x) + 1:
            raise ValueError(f"a tree must have one head for each word, got {len(heads) - 1} heads for {len(x)} words")
        if not _projective(heads):
            raise ValueError(f"arcs of the tree {heads[1:].tolist()} cross: leave it out (check with is_projective)")
        longest = eisner.FIXED + len(x)
        room, out = np.empty(longest, np.uint64), np.empty(longest * len(x), np.uint64)
        count = int(eisner.tree_features(words, tags, heads, np.uint64(self.n_features - 1), room, out))
        row = np.ones(count), out[:count].astype(np.int64), np.array([0, count])
        return csr_array(row, shape=(1, self.n_features))

    def argmax(self, x: Any, weights: Any) -> list[int]:
        """Find the tree with the largest score.

        Parameters
        ----------
        x : list of (word, tag)
            The sentence.
        weights : ndarray of float64 of shape (n_features,)
            The weights.

        Returns
        -------
        list of int
            Heads.

        Raises
        ------
        ValueError
            If x is not a list of pairs of strings, or the weights have another type or shape.
        """
        return best_tree(self._scores(x, weights))

    def augmented(self, x: Any, weights: Any, y: Any, scale: float) -> list[int]:
        """Find the tree with the largest score + scale·(wrong heads).

        Parameters
        ----------
        x : list of (word, tag)
            The sentence.
        weights : ndarray of float64 of shape (n_features,)
            The weights.
        y : list of int
            The correct heads.
        scale : float
            How much a wrong head counts.

        Returns
        -------
        list of int
            Heads.

        Raises
        ------
        ValueError
            As for `argmax`. Also if y is not a tree.
        """
        scores = self._scores(x, weights) + scale
        scores[as_heads(y)[1:], np.arange(1, len(scores))] -= scale
        return best_tree(scores)

    def loss(self, y: Any, y_hat: Any) -> float:
        """Count the words with a wrong head.

        Parameters
        ----------
        y, y_hat : list of int
            The correct and the predicted heads.

        Returns
        -------
        float
            From 0 to the number of words.
        """
        return float(np.count_nonzero(np.asarray(y) != np.asarray(y_hat)))

    def _scores(self, x: Any, weights: Any) -> Array:
        """Score each arc, [head, word]."""
        words, tags = encoded(x)
        scores = np.zeros((len(x) + 1, len(x) + 1))
        room = np.empty(eisner.FIXED + len(x), np.uint64)
        weights = np.asarray(weights)
        if weights.dtype != np.float64 or weights.shape != (self.n_features,) or not weights.flags.c_contiguous:
            kind = f"{weights.dtype} of shape {weights.shape}"
            raise ValueError(f"weights must be an array of float64 of shape ({self.n_features},), got {kind}")
        weights = read_only(weights.view())  # as in training: a writable array would compile once more
        eisner.arc_scores(words, tags, weights, np.uint64(self.n_features - 1), room, scores)
        return scores


def best_tree(scores: Array) -> list[int]:
    """Find the projective tree with the largest sum of arc scores.

    Parameters
    ----------
    scores : ndarray of shape (n + 1, n + 1)
        ``scores[head, word]`` of n words, numbered from 1; 0 is the root, which has one child.

    Returns
    -------
    list of int
        The head of each word.

    Raises
    ------
    ValueError
        If `scores` is not a square matrix of finite numbers.

    Examples
    --------
    The root is above word 2, and word 2 above word 1: 5 + 2 is the largest sum.

    >>> import numpy as np
    >>> from perceptrons.structures import best_tree
    >>> best_tree(np.array([[0, 1, 5], [0, 0, 1], [0, 2, 0]], float))
    [2, 0]
    """
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    size = len(scores) if scores.ndim else 0
    if size == 0 or scores.shape != (size, size) or not np.isfinite(scores).all():
        raise ValueError(f"scores must be a square matrix of finite numbers, got shape {scores.shape}")
    if size == 1:
        return []
    heads, chart = np.empty(size, np.int64), np.empty((3, size, size))
    # Each arc takes one span off the stack and puts three on it, so n words never need more than 2n spans.
    eisner.best_tree(scores, chart, np.empty((2 * size, 3), np.int64), heads)
    tree: list[int] = heads[1:].tolist()
    return tree


def is_projective(heads: Any) -> bool:
    """Check that no two arcs of a tree cross, drawn above the sentence with the root before the first word.

    Parameters
    ----------
    heads : list of int
        The head of each word, counted from 1; 0 is the root.

    Returns
    -------
    bool
        Whether no two arcs cross.

    Raises
    ------
    ValueError
        If `heads` is not a tree with one root.

    Examples
    --------
    In the second tree, the arc from word 4 to word 2 crosses the one from word 3 to word 1:

    >>> from perceptrons.structures import is_projective
    >>> is_projective([2, 3, 0, 3]), is_projective([3, 4, 0, 3])
    (True, False)
    """
    return _projective(as_heads(heads))


def as_heads(heads: Any) -> Array:
    """Convert heads to an array with word i at position i; refuse what is not a tree with one root."""
    array = np.asarray(heads)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(f"a tree must be a list of heads, whole numbers with 0 for the root, got {heads!r}")
    n = array.size
    above = np.concatenate([[0], array]).astype(np.int64)
    if above.min() < 0 or above.max() > n:
        raise ValueError(f"the heads of {n} words must lie between 0 and {n}, got {above[1:].tolist()}")
    if n and np.count_nonzero(above[1:] == 0) != 1:
        raise ValueError(f"a tree must have exactly one word whose head is 0, got {above[1:].tolist()}")
    top, reach = above, 1
    while reach < n:  # each turn, `top` reaches twice as far up
        top, reach = top[top], 2 * reach
    if top.any():
        raise ValueError(f"a tree must not have cycles, got {above[1:].tolist()}")
    return above


def _projective(heads: Array) -> bool:
    """Whether no arc begins inside another and ends outside."""
    words = np.arange(1, len(heads))
    low, high = np.minimum(heads[1:], words), np.maximum(heads[1:], words)
    crossing = (low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high)
    return not crossing.any()


def encoded(x: Sequence[tuple[str, str]]) -> tuple[Array, Array]:
    """Hash words and tags, and markers before and after the sentence."""
    try:
        words, tags = zip((BEYOND, BEYOND), (ROOT, ROOT), *x, (BEYOND, BEYOND), strict=True)
        codes = [np.array([code(text) for text in column], np.uint64) for column in (words, tags)]
    except (TypeError, ValueError, AttributeError):
        raise ValueError(f"a sentence must be a list of (word, tag) pairs of strings, got {x!r}") from None
    return codes[0], codes[1]


@lru_cache(maxsize=1 << 18)
def code(text: str) -> int:
    """Hash a string to the same number in every process."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
