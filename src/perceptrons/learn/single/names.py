"""Names of features, for examples that are dicts: a new name gets the next number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Names:
    """Numbers of features by name.

    A feature that got its number from a row or a pair, and not from a dict, is called x and its number, as scikit-learn
    does: "x7".

    >>> names = Names(["age", "job=cook"])
    >>> names.find("age", 2), names.find("pay", 2), names.find("x2", 3)
    (0, None, 2)
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        # The name of each feature that has one, by number, in rising order. Compiled code compares them with others: no
        # method of a subclass may be called then.
        self.texts = dict(enumerate(map(str.__str__, texts)))
        self.numbers: dict[Any, int] = {}  # of names; also of keys that are not text, such as 7 for "7"
        for j, text in self.texts.items():
            self.numbers.setdefault(text, j)
        self.categories: dict[str, dict[str, int]] = {}  # features "name=text", as far as they have occurred

    def find(self, key: Any, n_features: int) -> int | None:
        """The number of a feature among the first `n_features`; None if no feature has this name."""
        found = self.numbers.get(key)
        if found is None and type(key) is int:
            found = self.numbers.get(str(key))
        if found is None and type(key) is str and key[:1] == "x" and key[1:].isdecimal():
            number = int(key[1:]) if len(key) < 12 else n_features
            if number < n_features and number not in self.texts and key == f"x{number}":
                return number
        # Another thread may be adding it, or Ctrl-C came before the model had it.
        return found if found is None or found < n_features else None

    def note(self, name: Any, text: str, number: int) -> None:
        """Note that the text is a category of the name, with this feature."""
        if type(name) is str and type(text) is str:
            self.categories.setdefault(name, {})[text] = number

    def add(self, texts: list[str], n_features: int) -> None:
        """Give these names, which are new, the numbers from `n_features` on."""
        self.cut(n_features)
        for j, text in enumerate(texts, n_features):
            self.texts[j], self.numbers[text] = text, j

    def cut(self, n_features: int) -> None:
        """Forget the names of all features from `n_features` on. They are those that were added last."""
        while self.texts and (j := next(reversed(self.texts))) >= n_features:
            if self.numbers.get(self.texts[j]) == j:
                del self.numbers[self.texts[j]]
            del self.texts[j]  # last: after Ctrl-C, the next call goes on
            self.categories.clear()

    def listed(self, n_features: int) -> list[str]:
        """The names of all features."""
        return [self.texts.get(j, f"x{j}") for j in range(n_features)]
