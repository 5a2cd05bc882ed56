"""`perceptrons tag` with files as CoNLL-2003 has them: IOB1, four columns, documents, or only words and labels."""

import json

import numpy as np
import pytest
from naive_sequences import converted, obeys

import perceptrons

NAMES = {"Rome": "LOC", "Paris": "LOC", "Ann": "PER", "Bob": "PER"}
WORDS = [*NAMES, "the", "of", "sees", "in"]
DOCUMENT = "-DOCSTART- -X- -X- O\n\n"


def sentences(seed, n=60):
    """Pairs of words and labels in IOB1; some names have two words, and names of places may touch."""
    random, found = np.random.default_rng(seed), []
    for _ in range(n):
        words = random.choice(WORDS, random.integers(1, 7)).tolist()
        y = [f"I-{NAMES[word]}" if word in NAMES else "O" for word in words]
        for t in range(1, len(y)):
            if y[t] == y[t - 1] == "I-LOC" and words[t] == "Rome":
                y[t] = "B-LOC"
        found.append((words, y))
    return found


def written(pairs, scheme="IOB1"):
    """Four columns, and a new document now and then."""
    text = [DOCUMENT]
    for number, (words, y) in enumerate(pairs):
        tags = ["NNP" if word in NAMES else "X" for word in words]
        rows = zip(words, tags, converted(y, scheme), strict=True)
        text.append("".join(f"{word} {tag} _ {label}\n" for word, tag, label in rows) + "\n")
        text += [DOCUMENT] * (number % 20 == 19)
    return "".join(text)


@pytest.fixture
def files(tmp_path):
    train, test = sentences(0), sentences(1, 20)
    assert {label for _, y in train for label in y} == {"B-LOC", "I-LOC", "I-PER", "O"}
    for name, pairs in (("train", train), ("test", test)):
        for scheme in ("IOB1", "BIO"):
            (tmp_path / f"{name}.{scheme}").write_text(written(pairs, scheme))
        lines = ["".join(f"{word} {label}\n" for word, label in zip(*pair, strict=True)) for pair in pairs]
        (tmp_path / f"{name}.words").write_text("\n".join(lines))
    return tmp_path


def test_labels_are_read_and_written_as_iob1(files, run, ask):
    told = ask("tag", "train", files / "train.IOB1", "--features", "ner", "-m", files / "m", "--validation", 0.2)
    assert told["scheme"] == "IOB1" and told["labels"] == ["B-LOC", "I-LOC", "I-PER", "O"]
    out = run("tag", "predict", files / "m", files / "test.IOB1").out
    model = perceptrons.load(files / "m")
    X = perceptrons.data.read_conll(files / "test.IOB1")
    predicted = model.predict(X)
    assert all(obeys(y, "IOB1") for y in predicted)
    lines = [line.split() for line in out.split("\n") if line and not line.startswith("-DOCSTART-")]
    assert [line[4] for line in lines] == [label for y in predicted for label in y]
    assert {len(line.split()) for line in out.split("\n") if line} == {5}  # conlleval wants as many in each line
    best = run("tag", "predict", files / "m", files / "test.IOB1", "--k-best", 2, "--json").out.split("\n")
    lists = [[each["labels"] for each in json.loads(line)["labellings"]] for line in best if line]
    assert lists == [[y for y, _ in each] for each in model.predict_k_best(X, 2)]
    assert "scheme             IOB1" in run("inspect", files / "m").out


def test_right_labels_may_be_in_either_scheme(files, run, ask):
    found = []
    for scheme in ("IOB1", "BIO"):
        run("tag", "train", files / f"train.{scheme}", "--features", "ner", "-m", files / scheme, "--passes", 3)
        told = [ask("tag", "evaluate", files / scheme, files / f"test.{other}") for other in ("IOB1", "BIO")]
        for each in told:
            del each["data"]
        assert told[0] == told[1] and told[0]["scheme"] == scheme
        found.append((told[0]["micro"]["support"], told[0]["sentences"]))
        assert "F1" in run("tag", "evaluate", files / scheme, files / "test.IOB1").out
        watched = ask(
            *("tag", "train", files / f"train.{scheme}", "--features", "ner", "-m", files / "w", "--passes", 3),
            *("--validation", files / "test.BIO"),
        )
        assert watched["held_out_errors"][-1] == pytest.approx(told[0]["token_error"])
    assert found[0] == found[1]


def test_ner_works_without_tags(files, run):
    done = run("tag", "train", files / "train.words", "--features", "ner", "-m", files / "m")
    assert done.code == 0 and "(ner-words)" in done.out and "scheme IOB1" in done.out
    assert "F1" in run("tag", "evaluate", files / "m", files / "test.words").out
    assert perceptrons.load(files / "m").features == "ner-words"
    done = run("tag", "train", files / "train.IOB1", "--features", "ner", "-m", files / "m", "--target", "pos")
    assert done.code == 0 and "(ner-words)" in done.out
    done = run("tag", "train", files / "train.words", "--features", "chunking", "-m", files / "m")
    assert done.code == 2 and "need a column 'pos': the columns are word, tag" in done.err and "--columns" in done.err


def test_what_is_refused_or_warned_of(files, run):
    train = ["tag", "train", files / "train.IOB1", "--features", "ner", "-m", files / "m"]
    done = run(*train, "--scheme", "BIO")
    assert done.code == 2 and "are not BIO" in done.err and "the labels are IOB1: use --scheme IOB1" in done.err
    with open(files / "train.IOB1", "a") as file:
        file.write("Ann NNP _ B-PER\nsees X _ O\n")
    done = run(*train)
    assert done.code == 0 and "'B-PER' at the beginning: 1 of 61 sentences breaks IOB1" in done.err
    assert "labels are learned as they are" in done.err and ", no scheme" in done.out
    assert run(*train, "--scheme", "IOB1").code == 2
    (files / "empty").write_text(DOCUMENT)
    done = run("tag", "train", files / "empty", "--features", "ner", "-m", files / "m")
    assert done.code == 2 and "empty has no tokens" in done.err
