"""Tables of text on the command line: their defaults, the words that models know, and rows that are held out."""

import numpy as np
import pytest

from perceptrons import load, rules
from perceptrons.data import source
from perceptrons.learn.holdout import chosen

RNG = np.random.default_rng(1)
WORDS = {"spam": ["free", "win", "prize", "claim", "cash"], "ham": ["home", "later", "love", "work", "dinner"]}
COMMON = ["the", "a", "to", "you", "and", "is"]
MAIL = [
    (label, " ".join(RNG.permutation([*RNG.choice(WORDS[label], 2), *RNG.choice(COMMON, 6)])))
    for label in RNG.choice(["ham", "spam"], 90).tolist()
]


def write(path, mail=MAIL, **columns):
    lines = [",".join(["label", "message", *columns])]
    lines += [",".join([*row, *(str(values[i]) for values in columns.values())]) for i, row in enumerate(mail)]
    path.write_text("\n".join(lines) + "\n")
    return path


TABLE = ("--target", "label", "--text", "message", "--no-cache")


@pytest.fixture
def trained(run, tmp_path):
    """Train on a table of text; the model."""

    def trained(*options, mail=MAIL, **columns):
        path = write(tmp_path / "mail.csv", mail, **columns)
        done = run("train", path, "-m", tmp_path / "m", "--quiet", *TABLE, *options)
        assert done.code == 0, done.err
        model = load(tmp_path / "m")
        return getattr(model, "model_", model)  # the one inside a TableClassifier

    return trained


def test_defaults_depend_on_the_columns(trained):
    model = trained()
    assert model.rule == rules.PA1(2.0) and model.intercept_scaling == 0.1 and model.max_iter == 5
    assert model.readout == "averaged" and model.encoding_.weighting == "tfidf" and model.encoding_.ngrams == 1
    with_numbers = trained(price=RNG.normal(size=90).round(3).tolist())
    assert with_numbers.rule == rules.PA1(2.0) and with_numbers.intercept_scaling == 1.0


def test_the_user_decides(trained, run, tmp_path):
    model = trained("--rule", "pa1", "--passes", 2, "--intercept-scaling", 0.5, "--weighting", "binary")
    assert model.rule == rules.PA1(1.0) and (model.max_iter, model.intercept_scaling) == (2, 0.5)
    assert model.encoding_.weighting == "binary"
    assert trained("--C", 0.5).rule == rules.PA1(0.5)
    assert trained("--rule", "perceptron").rule == rules.Plain()
    other = trained("--estimator", "passive-aggressive", "--passes", 2)
    assert other.C == 1.0
    train = ["train", tmp_path / "mail.csv", "-m", tmp_path / "n", *TABLE, "--intercept-scaling", 1]
    assert "--intercept-scaling needs --estimator perceptron" in run(*train, "--estimator", "kernel").err
    assert "--intercept-scaling needs a bias" in run(*train, "--no-intercept").err


def test_inspect_shows_words(trained, run, tmp_path):
    model = trained()
    out = run("inspect", tmp_path / "m").out
    assert "message: free" in out and "message: home" in out
    heavy = {str(each.feature).removeprefix("message: ") for each in model.feature_weights(top=10)}
    assert {*WORDS["spam"], *WORDS["ham"]} <= heavy
    assert set(model.encoding_.lexicon.words.values()) <= {*WORDS["spam"], *WORDS["ham"], *COMMON}


def test_copies_and_streams_keep_words_and_rarity(shell, run, tmp_path):
    """The same model from the file, from its parsed copy, and from standard input."""
    path = write(tmp_path / "mail.csv")
    options = ["--target", "label", "--text", "message", "--quiet", "--no-shuffle"]
    models = []
    for k in range(2):  # the second time, from the copy
        assert run("train", path, "-m", tmp_path / f"{k}", *options, "--cache", tmp_path / "copies").code == 0
        models.append(load(tmp_path / f"{k}"))
    piped = shell("train", "-", "--format", "csv", "-m", tmp_path / "piped", *options, stdin=path.read_bytes())
    assert piped.code == 0, piped.err
    first, *others = [*models, load(tmp_path / "piped")]
    for other in others:
        assert other.encoding_.lexicon.words == first.encoding_.lexicon.words
        assert other.encoding_.state()[1] == first.encoding_.state()[1]
        np.testing.assert_allclose(other.coef_, first.coef_, rtol=1e-9, atol=1e-12)


def test_held_out_rows_take_no_part(trained):
    """Other words in the held-out rows change nothing about the model."""
    share = 0.2
    seed = int(np.random.RandomState(0).randint(2**31))
    held = chosen(0, len(MAIL), share, seed)
    changed = [(label, f"other words {i}") if held[i] else (label, text) for i, (label, text) in enumerate(MAIL)]
    first, second = (
        trained("--validation", share, "--keep", "last", "--passes", 2, mail=mail) for mail in (MAIL, changed)
    )
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert np.array_equal(first._learner.scaling.rarity.counts, second._learner.scaling.rarity.counts)


def test_models_predict_as_the_command_does(trained, run, tmp_path):
    model = trained()
    path = tmp_path / "mail.csv"
    labels = [line.split("\t")[0] for line in run("predict", tmp_path / "m", path).lines]
    assert labels[-90:] == model.predict(source(path, like=model.encoding_, cache=False)).tolist()
