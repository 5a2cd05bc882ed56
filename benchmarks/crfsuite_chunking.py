"""Chunking by python-crfsuite, as its users write it: read, make features, train, tag, write.

    python benchmarks/crfsuite_chunking.py TRAIN TEST MODEL OUT

The features are those of the set "crf++": words, tags, pairs and triples. The averaged perceptron, ten passes.
"""

from __future__ import annotations

import sys

import pycrfsuite

Sentence = list[list[str]]


def sentences(path: str) -> list[Sentence]:
    """Tokens with their columns, sentence by sentence."""
    found: list[Sentence] = [[]]
    with open(path) as file:
        for line in file:
            columns = line.split()
            if columns:
                found[-1].append(columns)
            elif found[-1]:
                found.append([])
    return found if found[-1] else found[:-1]


def features(sentence: Sentence) -> list[list[str]]:
    """The features of each token."""
    words = ["_B-2", "_B-1", *(token[0] for token in sentence), "_B+1", "_B+2"]
    tags = ["_B-2", "_B-1", *(token[1] for token in sentence), "_B+1", "_B+2"]
    rows = []
    for t in range(len(sentence)):
        a, b, c, d, e = words[t : t + 5]
        p, q, r, s, u = tags[t : t + 5]
        row = [f"w-2={a}", f"w-1={b}", f"w={c}", f"w+1={d}", f"w+2={e}", f"w-1w={b}|{c}", f"ww+1={c}|{d}"]
        row += [f"p-2={p}", f"p-1={q}", f"p={r}", f"p+1={s}", f"p+2={u}"]
        row += [f"p-2p-1={p}|{q}", f"p-1p={q}|{r}", f"pp+1={r}|{s}", f"p+1p+2={s}|{u}"]
        row += [f"p-2p-1p={p}|{q}|{r}", f"p-1pp+1={q}|{r}|{s}", f"pp+1p+2={r}|{s}|{u}"]
        rows.append(row)
    return rows


def trainer(data: list[Sentence]) -> pycrfsuite.Trainer:
    """A trainer that has all features and labels."""
    found = pycrfsuite.Trainer(algorithm="ap", params={"max_iterations": 10}, verbose=False)
    for sentence in data:
        found.append(features(sentence), [token[2] for token in sentence])
    return found


def main(train: str, test: str, model: str, out: str) -> None:
    """Train and tag."""
    trainer(sentences(train)).train(model)
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    with open(out, "w") as file:
        for sentence in sentences(test):
            for token, label in zip(sentence, tagger.tag(features(sentence)), strict=True):
                file.write(" ".join([*token, label]) + "\n")
            file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
