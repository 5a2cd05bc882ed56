"""Taggers beside python-crfsuite and NLTK: chunks of CoNLL-2000, universal tags of UD English-EWT.

    python benchmarks/tagging.py [folder with the data, by default ../shared/data]

Peers: pip install sklearn-crfsuite nltk. Settings are chosen on held-out training sentences.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import large_corpus
import numpy as np
from files import COMMAND, ENVIRONMENT
from side_by_side import head, ratio, row, seconds

from perceptrons import SequenceTagger
from perceptrons.data import Tokens, read_conll
from perceptrons.learn.fit import InMemory, Passes, fit
from perceptrons.learn.sequence.labels import Labels, labels_in
from perceptrons.learn.sequence.learner import Corpus
from perceptrons.learn.sequence.tagger import Tagger
from perceptrons.rules import Margin

PASSES = 10
SCRIPT = Path(__file__).with_name("crfsuite_chunking.py")
# What is tried on held-out sentences; the best is then taken to the test set.
CHOICES: dict[str, dict[str, Any]] = {
    "crf++, perceptron": {"features": "crf++", "rule": "perceptron"},
    "crf++, margin 1": {"features": "crf++", "rule": "margin"},
    "crf++, margin 8": {"features": "crf++", "rule": Margin(8.0)},
    "chunking, perceptron": {"features": "chunking", "rule": "perceptron"},
    "chunking, margin 1": {"features": "chunking", "rule": "margin"},
    "chunking, margin 8": {"features": "chunking", "rule": Margin(8.0)},
    "chunking, pa1, 5 best": {"features": "chunking", "rule": "pa1", "k_best": 5},
}


def main(folder: Path) -> None:
    """Print all tables."""
    chunks, tags = folder / "conll2000", folder / "ud_english_ewt"
    for path in (chunks, tags):
        if not path.is_dir():
            print(f"{path} is missing: name the folder that has it")
            return
    chunking(chunks)
    tagging(tags)
    large_corpus.main()


# -- chunks -----------------------------------------------------------------------------------------------------------


def chunking(folder: Path) -> None:
    """CoNLL-2000."""
    columns = ["word", "pos", "chunk"]
    train, test = (read_conll(folder / name, columns) for name in ("train.txt", "test.txt"))
    print(f"\nCoNLL-2000: {train.n_tokens:,} tokens to learn from, {test.n_tokens:,} to test on\n")
    quality(train, test)
    head(f"{PASSES} passes over CoNLL-2000, features ready, milliseconds", "ours", "theirs")
    first = prepared(train, features="crf++", rule="perceptron")
    searches(train, test, first)
    tagged = first[0].vocabulary.sequences(test, grow=False)
    first[0].learner.predict(tagged)
    times = sorted(seconds(lambda: first[0].learner.predict(tagged)) for _ in range(9))
    speed = test.n_tokens / times[4] / 1e6
    print(f"{'tagging, features ready, one core: million tokens a second':<82} {speed:8.2f}   >= 1")
    if importlib.util.find_spec("pycrfsuite") is None:
        print("python-crfsuite is not installed: its rows are left out")
        return
    against_crfsuite(folder, first)
    from_dicts(train)


def quality(train: Tokens, test: Tokens) -> None:
    """F1 by settings, on held-out sentences and on the test set."""
    order = np.random.RandomState(0).permutation(train.n_sequences)
    held = train.n_sequences // 10
    kept, held_out = train.take(np.sort(order[held:])), train.take(np.sort(order[:held]))
    print(f"{'F1, averaged readout, 10 passes, mean of 3 orders':<62} {'held out':>9} {'test':>9}   bar")
    found, on_test = {}, {}
    for name, settings in CHOICES.items():
        found[name] = mean_f1(kept, held_out, settings)
        bar = ">= 0.936" if name.startswith("crf++") else ""
        on_test[name] = mean_f1(train, test, settings)
        print(f"{name:<62} {found[name]:9.4f} {on_test[name]:9.4f}   {bar}", flush=True)
    best = max(found, key=lambda name: found[name])
    print(f"{'best on held-out: ' + best:<62} {'':>9} {on_test[best]:9.4f}   >= 0.9385", flush=True)


def mean_f1(train: Tokens, test: Tokens, settings: dict[str, Any]) -> float:
    models = (SequenceTagger(**settings, random_state=seed).fit(train, "chunk") for seed in range(3))
    return float(np.mean([model.report(test, "chunk").micro.f1 for model in models]))


def prepared(train: Tokens, **settings: Any) -> tuple[Tagger, Corpus, SequenceTagger]:
    """A tagger with all features of the training sentences, and these sentences."""
    model = SequenceTagger(**settings)
    tagger = model._new(train)
    return tagger, tagger.prepare(train, lambda bounds: labels(train)), model


def labels(tokens: Tokens) -> Labels:
    return labels_in(tokens, "chunk")


def passes(prepared: tuple[Tagger, Corpus, SequenceTagger]) -> None:
    """Ten passes, from zero weights."""
    tagger, corpus, _ = prepared
    tagger.learner = tagger.new_learner(tagger.labels)
    tagger.learner.constrain("BIO")
    fit(tagger.learner, InMemory(corpus), Passes(PASSES, seed=0))


def searches(train: Tokens, test: Tokens, first: tuple[Tagger, Corpus, SequenceTagger]) -> None:
    """Second order and beams beside first order."""
    others: dict[str, dict[str, Any]] = {
        "beam 8, max-violation": {"beam": 8},
        "beam 8, early update": {"beam": 8, "update": "early"},
        "second order": {"order": 2},
        "second order, beam 8, max-violation": {"order": 2, "beam": 8},
    }
    exact = mean_f1(train, test, {"features": "crf++", "rule": "perceptron"})
    for name, settings in others.items():
        other = prepared(train, features="crf++", rule="perceptron", **settings)
        mine, theirs, _ = ratio(lambda other=other: passes(other), lambda: passes(first), 3)
        f1 = mean_f1(train, test, {"features": "crf++", "rule": "perceptron", **settings})
        bar = f"F1 {f1:.4f}, first order {exact:.4f}" + ("; speed >= 0.5" if name == "beam 8, max-violation" else "")
        row(f"{name}, against first order", mine, theirs, theirs / mine, bar)


def against_crfsuite(folder: Path, first: tuple[Tagger, Corpus, SequenceTagger]) -> None:
    """Training with features ready, and everything from files to files."""
    from crfsuite_chunking import sentences, trainer

    with tempfile.TemporaryDirectory() as place:
        train, test, model, out = (
            str(path) for path in (folder / "train.txt", folder / "test.txt", Path(place, "m"), Path(place, "o"))
        )
        peer = trainer(sentences(train))
        works = ratio(lambda: passes(first), lambda: peer.train(model), 5)
        row("training, against python-crfsuite's averaged perceptron", *works, ">= 5")
        head("From text files to a saved model and a tagged file, whole commands, seconds", "ours", "theirs")
        ours, options = f"{place}/ours", ["--columns", "word,pos,chunk", "--features", "crf++", "--passes", str(PASSES)]
        options += ["--rule", "perceptron"]  # as the peer
        script = [sys.executable, str(SCRIPT), train, test, model, out]

        def commands() -> None:
            run([*COMMAND, "tag", "train", train, *options, "--model", ours, "--quiet"])
            run([*COMMAND, "tag", "predict", ours, test, "-o", f"{place}/tagged"])

        row(
            "CoNLL-2000, against a script with python-crfsuite",
            *ratio(commands, lambda: run(script), 5),
            ">= 5",
            unit=1,
        )


def from_dicts(train: Tokens) -> None:
    """Training from dicts of features, as in the tutorial of sklearn-crfsuite."""
    if importlib.util.find_spec("sklearn_crfsuite") is None:
        print("sklearn-crfsuite is not installed: its row is left out")
        return
    from sklearn_crfsuite import CRF

    words, tags, y = (train.lists(name) for name in ("word", "pos", "chunk"))
    X = [
        [token_features(sentence, kinds, t) for t in range(len(sentence))]
        for sentence, kinds in zip(words, tags, strict=True)
    ]
    items = sum(len(token) for sentence in X for token in sentence) / train.n_tokens
    head(f"{PASSES} passes over CoNLL-2000 from dicts, {items:.0f} features a token, seconds", "ours", "theirs")
    few = [[label if label[2:] in ("NP", "VP", "PP", "ADVP") else "O" for label in sentence] for sentence in y]
    for labels in (y, few):
        kinds = len({label for sentence in labels for label in sentence})
        works = ratio(
            lambda labels=labels: SequenceTagger(rule="perceptron", max_iter=PASSES).fit(X, labels),
            lambda labels=labels: CRF(algorithm="ap", max_iterations=PASSES).fit(X, labels),
            5,
        )
        row(f"against sklearn-crfsuite's averaged perceptron, {kinds} labels", *works, ">= 4", unit=1)


def token_features(words: list[str], tags: list[str], t: int) -> dict[str, Any]:
    """The features of token t."""
    found: dict[str, Any] = {"bias": 1.0, "word[-3:]": words[t][-3:], "word[-2:]": words[t][-2:]}
    found["isdigit"] = words[t].isdigit()
    for at, name in ((t - 1, "-1:"), (t, ""), (t + 1, "+1:")):
        if 0 <= at < len(words):
            word, tag = words[at], tags[at]
            found |= {f"{name}lower": word.lower(), f"{name}istitle": word.istitle(), f"{name}isupper": word.isupper()}
            found |= {f"{name}postag": tag, f"{name}postag[:2]": tag[:2]}
        else:
            found["BOS" if at < 0 else "EOS"] = True
    return found


def run(command: list[str]) -> None:
    subprocess.run(command, check=True, env=ENVIRONMENT, capture_output=True)


# -- parts of speech --------------------------------------------------------------------------------------------------


def tagging(folder: Path) -> None:
    """UD English-EWT, universal tags."""
    train, dev, test = (
        read_conll(folder / f"en_ewt-ud-{part}.conllu", ["form", "upos"]).renamed({"form": "word"})
        for part in ("train", "dev", "test")
    )
    print(f"\nUD English-EWT: {train.n_tokens:,} tokens to learn from, {test.n_tokens:,} to test on; universal tags\n")
    print(f"{'accuracy, the set pos, averaged, 10 passes, mean of 3 orders':<62} {'dev':>9} {'test':>9}   bar")
    for name, rule in {"perceptron": "perceptron", "margin 1": "margin", "margin 8": Margin(8.0)}.items():
        models = [SequenceTagger("pos", rule=rule, random_state=seed).fit(train, "upos") for seed in range(3)]
        on_dev, on_test = (np.mean([model.score(data, "upos") for model in models]) for data in (dev, test))
        print(f"{name:<62} {on_dev:9.4f} {on_test:9.4f}   >= 0.950, aim 0.951", flush=True)
    if importlib.util.find_spec("nltk") is None:
        print("nltk is not installed: its row is left out")
        return
    against_nltk(train, test)


def against_nltk(train: Tokens, test: Tokens) -> None:
    """Training from tokens in memory, features and all, beside NLTK's greedy averaged perceptron."""
    from nltk.tag.perceptron import PerceptronTagger

    pairs, words = tokens_and_tags(train), tokens_and_tags(test)
    X = [[word for word, _ in sentence] for sentence in pairs]
    y = [[tag for _, tag in sentence] for sentence in pairs]
    peer = PerceptronTagger(load=False)
    model = SequenceTagger("pos", rule=Margin(8.0), random_state=0)
    model.fit(X[:10], y[:10])
    theirs = seconds(lambda: peer.train(pairs))
    mine = sorted(seconds(lambda: model.fit(X, y)) for _ in range(3))[1]
    right = sum(
        guess == tag
        for sentence in words
        for (_, guess), (_, tag) in zip(peer.tag([word for word, _ in sentence]), sentence, strict=True)
    )
    head("UD English-EWT, training from lists of words, seconds", "ours", "theirs")
    row(
        f"against NLTK's tagger, whose accuracy is {right / test.n_tokens:.4f}",
        mine,
        theirs,
        theirs / mine,
        ">= 8",
        unit=1,
    )


def tokens_and_tags(tokens: Tokens) -> list[list[tuple[str, str]]]:
    """Sentences as NLTK takes them."""
    (words, forms), (tags, names) = tokens.columns["word"], tokens.columns["upos"]
    flat = [(forms[word], names[tag]) for word, tag in zip(words.tolist(), tags.tolist(), strict=True)]
    ends = tokens.bounds.tolist()
    return [flat[begin:end] for begin, end in pairwise(ends)]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
