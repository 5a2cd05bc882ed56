"""Dependency trees of UD English-EWT by `StructuredPerceptron` and Eisner's algorithm: how many heads are right.

    python benchmarks/parsing.py [folder with the data, by default ../shared/data]

Gold universal tags; punctuation counts. Trees that are not projective are left out of training, not of the test.
"""

from __future__ import annotations

import sys
from pathlib import Path

from side_by_side import seconds

from perceptrons import StructuredPerceptron
from perceptrons.data import read_conll
from perceptrons.structures import ProjectiveParsing, is_projective

Words = list[tuple[str, str]]


def trees(path: Path) -> list[tuple[Words, list[int]]]:
    """Words with their tags, and their heads."""
    tokens = read_conll(path, ["form", "upos", "head"])
    columns = (tokens.lists(name) for name in ("form", "upos", "head"))
    return [
        (list(zip(words, tags, strict=True)), [int(head) for head in heads])
        for words, tags, heads in zip(*columns, strict=True)
    ]


def main(folder: Path) -> None:
    """Train and print."""
    if not folder.is_dir():
        print(f"{folder} is missing: name the folder that has it")
        return
    train, test = (trees(folder / f"en_ewt-ud-{part}.conllu") for part in ("train", "test"))
    kept = [(words, heads) for words, heads in train if is_projective(heads)]
    model = StructuredPerceptron(ProjectiveParsing(), rule="pa1", max_iter=5, random_state=0)
    X, Y = [words for words, _ in kept], [heads for _, heads in kept]
    spent = seconds(lambda: model.fit(X, Y))
    found = model.predict([words for words, _ in test])
    right = sum(a == b for heads, (_, gold) in zip(found, test, strict=True) for a, b in zip(heads, gold, strict=True))
    print(f"{len(kept):,} of {len(train):,} trees are projective; 5 passes of PA-I took {spent:.0f} s")
    print(f"heads right on the test set: {right / sum(len(gold) for _, gold in test):.2%}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data") / "ud_english_ewt")
