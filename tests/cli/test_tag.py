"""`perceptrons tag`: what it learns and predicts is what the library does, whatever the files; and what it refuses."""

import gzip
import io
import json
import sys

import numpy as np
import pytest

import perceptrons
from perceptrons import SequenceTagger
from perceptrons.cli.main import main
from perceptrons.cli.tagging.train import Progress
from perceptrons.data import read_conll
from perceptrons.rules import PA1

WORDS = {"the": "DT", "a": "DT", "cat": "NN", "dog": "NN", "Rome": "NNP", "sleeps": "VB", "in": "IN"}
COLUMNS = ("--columns", "word,pos,chunk")
DEFAULT = {"rule": PA1(0.01), "k_best": 3}  # of the command


def chunked(seed, n=40, more=()):
    """Sentences of words with tags and chunks, some of which are wrong."""
    random = np.random.default_rng(seed)
    words, text = [*WORDS, *more], []
    for _ in range(n):
        inside = False
        for word in random.choice(words, random.integers(1, 7)).tolist():
            tag = WORDS.get(word, "NN")
            noun = (tag in ("DT", "NN", "NNP")) ^ (random.random() < 0.05)
            text.append(f"{word} {tag} {('I-NP' if inside and tag != 'DT' else 'B-NP') if noun else 'O'}")
            inside = noun
        text.append("")
    return "\n".join(text) + "\n"


def universal(text):
    """The same as CoNLL-U, with all that such files have besides tokens."""
    out = []
    for number, sentence in enumerate(text.strip().split("\n\n")):
        out.append(f"# sent_id = {number}")
        for i, line in enumerate(sentence.split("\n"), start=1):
            word, tag, label = line.split()
            if i == 1:
                out.append("1-2\t" + "\t".join("_" * 9))
            out.append("\t".join([str(i), word, "_", label, tag, "A=1", "0", "dep", "_", "Space After"]))
            if i == 2:
                out.append("2.1\t" + "\t".join("_" * 9))
        out.append("")
    return "\n".join(out) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tag")
    train, test = chunked(0), chunked(1, 20, ["Paris", "bird"])
    (folder / "train.txt").write_text(train)
    (folder / "test.txt").write_text(test)
    (folder / "test.txt.gz").write_bytes(gzip.compress(test.encode()))
    (folder / "bare.txt").write_text("\n".join(line.rpartition(" ")[0] for line in test.split("\n")))
    (folder / "train.conllu").write_text(universal(train))
    (folder / "test.conllu").write_text(universal(test))
    (folder / "words.templates").write_text("# what a word looks like\nword[0]\n\nword[-1] & word[0]  # two\n")
    return folder


@pytest.fixture(scope="module")
def taggers(folder):
    """Models that the command has trained: on columns, on CoNLL-U and of words alone."""
    made = {}
    for name, data, options in [
        ("chunks", "train.txt", [*COLUMNS, "--features", "chunking"]),
        ("upos", "train.conllu", ["--features", "chunking"]),
        ("words", "train.txt", [*COLUMNS, "--features", folder / "words.templates"]),
    ]:
        made[name] = folder / f"{name}.tagger"
        args = ["tag", "train", folder / data, "-m", made[name], *options, "--passes", "3", "--seed", "5", "--quiet"]
        with pytest.raises(SystemExit) as leave:
            main([str(arg) for arg in args])
        assert not leave.value.code
    return made


def state(model):
    return model.state_features_, model.transition_features_, model.mistakes_.tolist(), model.token_mistakes_.tolist()


# -- what is learned --------------------------------------------------------------------------------------------------


def test_the_command_learns_what_the_estimator_learns(folder, taggers, tmp_path, ask):
    tokens = read_conll(folder / "train.txt")
    model = SequenceTagger("chunking", max_iter=3, random_state=5, **DEFAULT).fit(tokens, "chunk")
    again = perceptrons.load(taggers["chunks"])
    assert state(again) == state(model) and again.scheme_ == "BIO"
    assert again.get_params() == model.get_params() | {"rule": again.rule}
    form = read_conll(folder / "train.conllu").renamed({"form": "word", "xpos": "pos"})
    assert state(perceptrons.load(taggers["upos"])) == state(
        SequenceTagger("chunking", max_iter=3, random_state=5, **DEFAULT).fit(form, "upos")
    )
    options = [*COLUMNS, "--features", "chunking", "--passes", 4, "--validation", "0.25", "--patience", 2]
    told = ask("tag", "train", folder / "train.txt", "-m", tmp_path / "m", *options)
    stopping = {"early_stopping": True, "validation_fraction": 0.25, "n_iter_no_change": 2}
    model = SequenceTagger("chunking", max_iter=4, random_state=0, **stopping, **DEFAULT).fit(tokens, "chunk")
    assert state(perceptrons.load(tmp_path / "m")) == state(model)
    assert told["held_out_errors"] == model.validation_errors_.tolist()
    assert told["held_out_error"] == min(told["held_out_errors"])
    assert (told["sentences"], told["held_out_sentences"], told["passes"]) == (30, 10, model.n_iter_)
    last = told["passes"] - 1 - told["held_out_errors"][::-1].index(told["held_out_error"])
    assert told["kept_pass"] == 1 + last and told["stopped"] in ("max_iter", "validation")


def test_a_file_to_take_the_error_on(folder, tmp_path, ask):
    options = [*COLUMNS, "--features", "chunking", "--passes", 2, "--no-shuffle", "--drop-zeros"]
    args = ["tag", "train", folder / "train.txt", "-m", tmp_path / "m", *options]
    told = ask(*args, "--validation", folder / "test.txt")
    model = perceptrons.load(tmp_path / "m")
    error = 1 - model.score(read_conll(folder / "test.txt"), "chunk")
    assert told["held_out_error"] == pytest.approx(error) and told["tokens"] == sum(map(len, sentences(folder)))
    assert told["training_error"] == pytest.approx(1 - model.score(read_conll(folder / "train.txt"), "chunk"))
    assert model.n_features_ <= told["features_with_weights"] < told["features"]
    assert told["sentence_mistakes"] == model.mistakes_.tolist() and told["updates"] == model.n_updates_


def sentences(folder, name="train.txt"):
    return [part.split("\n") for part in (folder / name).read_text().strip().split("\n\n")]


def test_what_is_printed_about_training(folder, tmp_path, run):
    args = ["tag", "train", folder / "train.txt", "-m", tmp_path / "m", "--features", "chunking", "--passes", 2]
    out = run(*args).out
    for part in ("40 sentences", "3 labels (B-NP, I-NP, O), scheme BIO", " templates (chunking), ", "sentences wrong"):
        assert part in out
    assert "no held-out data: see --validation" in out and "not converged after 2 passes: all passes were made" in out
    assert run(*args, "--quiet").out == ""
    out = run(*args, "--validation", "0.25", "--patience", 5).out
    assert "40 sentences, 10 of them held out" in out and "; kept: pass " in out and " of 2; " in out


def test_ctrl_c_keeps_finished_passes(folder, tmp_path, run, monkeypatch):
    def interrupt(self, learner, run):
        if run.n_iter == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "__call__", interrupt)
    args = ["tag", "train", folder / "train.txt", "-m", tmp_path / "m", "--features", "chunking", "--passes", 9]
    done = run(*args)
    assert done.code == 130 and "interrupted in pass 3" in done.out and done.err.strip() == "interrupted"
    assert "final model" not in done.out
    model = perceptrons.load(tmp_path / "m")
    fitted = SequenceTagger("chunking", max_iter=2, random_state=0, **DEFAULT).fit(
        read_conll(folder / "train.txt"), "chunk"
    )
    assert state(model) == state(fitted) and model.predict([[("the", "DT")]]) == fitted.predict([[("the", "DT")]])
    monkeypatch.setattr("perceptrons.learn.fit.InMemory.begin", lambda self, learner: interrupt(self, learner, model))
    model.n_iter = 2
    before = (tmp_path / "m").read_bytes()
    assert run(*args).code == 130 and (tmp_path / "m").read_bytes() == before  # nothing was learned


# -- what is predicted ------------------------------------------------------------------------------------------------


def predicted(folder, taggers, name="chunks"):
    """The labels of the test file, by the library."""
    return perceptrons.load(taggers[name]).predict(read_conll(folder / "test.txt"))


def test_labels_are_a_further_column(folder, taggers, tmp_path, run):
    labels = predicted(folder, taggers)
    lines = [
        [f"{line} {label}" for line, label in zip(x, y, strict=True)]
        for x, y in zip(sentences(folder, "test.txt"), labels, strict=True)
    ]
    expected = "\n\n".join("\n".join(each) for each in lines)
    for name in ("test.txt", "test.txt.gz"):
        assert run("tag", "predict", taggers["chunks"], folder / name).out.strip() == expected
    done = run("tag", "predict", taggers["chunks"], folder / "test.txt", "-o", tmp_path / "out.txt")
    assert done.err.startswith("labels of 20 sentences, ")
    assert done.out == "" and (tmp_path / "out.txt").read_text().strip() == expected
    evaluated = read_conll(tmp_path / "out.txt", ["word", "pos", "chunk", "label"])  # as conlleval takes it
    assert evaluated.n_sequences == 20


def test_labels_need_not_be_there(folder, taggers, run, monkeypatch):
    flat = [label for y in predicted(folder, taggers) for label in y]
    done = run("tag", "predict", taggers["chunks"], folder / "bare.txt")
    bare = [[*line.split()[:2], label] for line, label in zip(_tokens(folder), flat, strict=True)]
    assert [line.split() for line in done.lines if line] == bare
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(open(folder / "bare.txt", "rb")))
    assert run("tag", "predict", taggers["chunks"], "-").out == done.out
    one = run("tag", "predict", taggers["words"], folder / "test.txt", "--columns", "word").lines
    assert [line.split()[-1] for line in one if line] == [y for x in predicted(folder, taggers, "words") for y in x]


def _tokens(folder):
    return [line for x in sentences(folder, "test.txt") for line in x]


def test_conllu_keeps_everything_else(folder, taggers, run):
    before = (folder / "test.conllu").read_text().splitlines()
    after = run("tag", "predict", taggers["upos"], folder / "test.conllu").lines
    labels = iter([label for y in predicted(folder, taggers) for label in y])
    for line in before:
        fields = line.split("\t")
        if fields[0].isdigit():
            fields[3] = next(labels)
        assert after.pop(0) == "\t".join(fields)
    assert after == []
    bare = run("tag", "predict", taggers["upos"], folder / "bare.txt", "--columns", "word,pos").lines
    assert [line.split()[2] for line in bare if line] == [y for x in predicted(folder, taggers) for y in x]
    into_misc = ["--target", "misc", "--columns", "xpos=pos"]
    misc = run("tag", "predict", taggers["chunks"], folder / "test.conllu", *into_misc).lines
    found = [line.split("\t")[9] for line in misc if line.split("\t")[0].isdigit()]
    assert found == [y for x in predicted(folder, taggers) for y in x]


def test_words_of_lines(folder, taggers, tmp_path, run):
    (tmp_path / "raw.txt").write_text("the cat sleeps\n\nRome\n")
    model = perceptrons.load(taggers["words"])
    labels = model.predict([["the", "cat", "sleeps"], ["Rome"]])
    done = run("tag", "predict", taggers["words"], tmp_path / "raw.txt", "--tokens")
    assert done.out == "the {}\ncat {}\nsleeps {}\n\nRome {}\n\n".format(*labels[0], *labels[1])
    done = run("tag", "predict", taggers["words"], tmp_path / "raw.txt", "--tokens", "--json")
    assert [json.loads(line) for line in done.lines] == [
        {"tokens": ["the", "cat", "sleeps"], "labels": labels[0]},
        {"tokens": ["Rome"], "labels": labels[1]},
    ]
    done = run("tag", "predict", taggers["chunks"], tmp_path / "raw.txt", "--tokens")
    assert done.code == 2 and "--tokens reads only words, but the model needs the columns word, pos" in done.err


def test_the_k_best(folder, taggers, run):
    model = perceptrons.load(taggers["chunks"])
    best = model.predict_k_best(read_conll(folder / "test.txt"), 3)
    lines = run("tag", "predict", taggers["chunks"], folder / "test.txt", "--k-best", 3, "--json").lines
    for line, right in zip(lines, best, strict=True):
        found = [(each["labels"], each["score"]) for each in json.loads(line)["labellings"]]
        assert found == right
    blocks = run("tag", "predict", taggers["chunks"], folder / "test.txt", "--k-best", 3).out.strip().split("\n\n")
    right = [
        (each, x) for x, labellings in zip(sentences(folder, "test.txt"), best, strict=True) for each in labellings
    ]
    for block, ((labels, score), x) in zip(blocks, right, strict=True):
        first, *rest = block.split("\n")
        assert first.startswith("# labelling ") and first.endswith(f", score {score:.6g}")
        assert rest == [f"{line} {label}" for line, label in zip(x, labels, strict=True)]


# -- what is said of models -------------------------------------------------------------------------------------------


def test_evaluation_is_that_of_the_library(folder, taggers, tmp_path, run, ask):
    tokens = read_conll(folder / "test.txt")
    for name, file in (("chunks", "test.txt"), ("upos", "test.conllu"), ("words", "test.txt.gz")):
        told = ask("tag", "evaluate", taggers[name], folder / file)
        model = perceptrons.load(taggers[name])
        report = model.report(tokens, "chunk")
        assert told["token_accuracy"] == report.token_accuracy == pytest.approx(1 - told["token_error"])
        assert told["sentence_accuracy"] == report.sequence_accuracy
        assert told["micro"]["f1"] == report.micro.f1 and told["types"] == report.as_dict()["types"]
        assert sum(each["tokens"] for each in told["confusions"]) == told["wrong_tokens"]
        new = [line.split()[0] in ("Paris", "bird") for line in _tokens(folder)]
        wrong = np.array([y for x in model.predict(tokens) for y in x]) != [x.split()[2] for x in _tokens(folder)]
        assert told["unknown_words"] == {"tokens": sum(new), "accuracy": pytest.approx(1 - wrong[new].mean())}
    perceptrons.save(model, tmp_path / "less", drop_zeros=True)
    assert ask("tag", "evaluate", tmp_path / "less", folder / "test.txt", *COLUMNS)["unknown_words"] is None
    out = run("tag", "evaluate", taggers["chunks"], folder / "test.txt").out
    assert "F1" in out and "unknown words right" in out and "(weighted)" in out and "taken for" in out
    out = run("tag", "evaluate", taggers["chunks"], folder / "test.txt", "--columns", "word,chunk,pos").out
    assert "labels that the model does not know: DT, IN" in out


def test_inspect(folder, taggers, tmp_path, run, ask):
    told, model = ask("inspect", taggers["chunks"], "--top", 4), perceptrons.load(taggers["chunks"])
    assert (told["estimator"], told["scheme"], told["labels"]) == ("SequenceTagger", "BIO", ["B-NP", "I-NP", "O"])
    assert told["features"] == model.n_features_ == sum(each["features"] for each in told["templates"])
    weights, steps = model.state_features_, dict(model.transition_features_)
    steps |= {(None, label): w for label, w in model.start_features_.items()}
    steps |= {(label, None): w for label, w in model.end_features_.items()}
    for entry in told["strongest"]:
        sizes = sorted((abs(w) for (_, label), w in weights.items() if label == entry["label"]), reverse=True)
        assert [abs(each["weight"]) for each in entry["features"]] == sizes[:4]
        assert all(weights[each["feature"], entry["label"]] == each["weight"] for each in entry["features"])
    assert all(steps[each["from"], each["to"]] == each["weight"] for each in told["transitions"])
    assert len(told["transitions"]) == 4
    out = run("inspect", taggers["upos"]).out
    for part in (
        "CoNLL-U, form=word, xpos=pos, upos; labels in 'upos'",
        "strongest transitions",
        "pos[-1] & pos[0]",
        "token mistakes",
    ):
        assert part in out
    named = SequenceTagger(max_iter=1).fit([[["a"], ["b"]]], [["X", "Y"]])
    perceptrons.save(named, tmp_path / "named.tagger")
    assert "given by name" in run("inspect", tmp_path / "named.tagger").out
    done = run("tag", "predict", tmp_path / "named.tagger", folder / "test.txt")
    assert done.code == 2 and "cannot label files" in done.err


def test_mistakes_are_drawn(taggers, tmp_path, run):
    pytest.importorskip("matplotlib")
    assert run("plot", taggers["chunks"], "--kind", "mistakes", "-o", tmp_path / "a.svg").code == 0
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()
    done = run("plot", taggers["chunks"], "--kind", "margins", "-o", tmp_path / "b.svg")
    assert refused(done, "holds a SequenceTagger: taggers have --kind mistakes only")


def test_models_that_a_program_has_saved(folder, taggers, tmp_path, run):
    model = SequenceTagger("chunking", columns=["word", "pos"], max_iter=3, random_state=5, **DEFAULT)
    perceptrons.save(model.fit(read_conll(folder / "train.txt"), "chunk"), tmp_path / "m")
    out = run("tag", "predict", taggers["chunks"], folder / "test.txt").out
    assert run("tag", "predict", tmp_path / "m", folder / "test.txt").out == out
    done = run("tag", "evaluate", tmp_path / "m", folder / "test.txt", "--columns", "word,pos,chunk")
    assert done.out == run("tag", "evaluate", taggers["chunks"], folder / "test.txt").out


# -- refusals ---------------------------------------------------------------------------------------------------------


def refused(done, *parts):
    assert done.code == 2 and done.out == ""
    assert all(str(part) in done.err for part in parts), done.err
    return True


def test_verbs_for_the_other_kind_of_model(folder, taggers, models, files, tmp_path, run):
    rows, model = files / "two.svm", taggers["chunks"]
    assert refused(run("predict", model, rows), f"{model} holds a SequenceTagger: use perceptrons tag predict")
    assert refused(run("evaluate", model, rows), "holds a SequenceTagger: use perceptrons tag evaluate")
    assert refused(run("export", model, "--onnx", tmp_path / "a.onnx"), "taggers cannot be exported to ONNX")
    two = models["two"]
    assert refused(run("tag", "predict", two, rows), f"{two} holds a Perceptron: use perceptrons predict")
    assert refused(run("tag", "evaluate", two, rows), "holds a Perceptron: use perceptrons evaluate")
    assert refused(run("tag", "predict", folder / "train.txt", rows), "is not a perceptrons model")
    assert not list(tmp_path.iterdir())


def test_lines_that_are_wrong(folder, taggers, tmp_path, run):
    bad = tmp_path / "bad.txt"
    bad.write_text("the DT B-NP\n\ncat NN\n")
    train = ["tag", "train", bad, "-m", tmp_path / "m", *COLUMNS]
    assert refused(run(*train, "--features", "chunking"), f"{bad}:3: 2 columns, expected 3 (word, pos, chunk)")
    bad.write_text("the DT O\n\nthe\n")
    assert refused(run("tag", "predict", taggers["chunks"], bad), f"{bad}:3: 1 column, expected 2 (word, pos)")
    assert refused(run("tag", "evaluate", taggers["chunks"], bad), f"{bad}:3: 1 column, expected 3")
    bad.write_text("the DT B-NP\n\nthe DT O\ncat NN I-NP\n")
    done = run(*train, "--features", "chunking", "--scheme", "BIO")
    assert refused(done, f"{bad}:3: the labels of this sentence are not BIO: O I-NP", "--scheme none")
    templates = tmp_path / "t"
    templates.write_text("word[0]\n# more\nword[0].sufix(2)\n")
    assert refused(run(*train, "--features", templates), f"{templates}:3:", "no function 'sufix'")
    templates.write_text("word[0]\nword[0]\n")
    assert refused(run(*train, "--features", templates), f"{templates}:2:", "given twice")
    templates.write_text("# none\n")
    assert refused(run(*train, "--features", templates), "has no templates")
    bad.write_text("\n\n")
    assert refused(run(*train, "--features", "chunking"), "no tokens")
    assert refused(run("tag", "predict", taggers["chunks"], bad), f"{bad} has no tokens")
    assert {each.name for each in tmp_path.iterdir()} == {"bad.txt", "t"}


def test_columns_that_are_not_there(folder, taggers, tmp_path, run):
    data = folder / "train.txt"
    train = ["tag", "train", data, "-m", tmp_path / "m", "--features", "chunking"]
    assert refused(run(*train, "--columns", "word,tag,chunk"), "templates need a column 'pos'", "word, tag, chunk")
    assert refused(
        run(*train, "--target", "ner"), "column of labels 'ner' does not exist: the columns are word, pos, chunk"
    )
    assert refused(run(*train, "--target", "pos"), "features use the column 'pos', which has the labels")
    assert refused(run(*train, "--columns", "word,,chunk"), "expected names separated by commas")
    assert refused(run(*train[:-1], "chunkin"), "no built-in set and no file is called 'chunkin'", "chunking, pos, ner")
    universal = ["tag", "train", folder / "train.conllu", "-m", tmp_path / "m", "--features", "chunking"]
    assert refused(run(*universal, "--columns", "upos=pos"), "features use the column 'pos', which has the labels")
    assert refused(
        run(*universal, "--columns", "word,pos"), "columns of CoNLL-U have fixed names", "--columns form=word"
    )
    assert refused(run(*universal, "--target", "chunk"), "CoNLL-U has id, form")
    (tmp_path / "t").write_text("gender[0]")
    assert refused(run(*universal[:-1], tmp_path / "t"), "need a column 'gender'", "--columns feats=gender")
    done = run("tag", "predict", taggers["chunks"], folder / "test.conllu")
    assert refused(done, "with --target which CoNLL-U column labels are written to: id, form")
    done = run("tag", "evaluate", taggers["chunks"], folder / "test.conllu")
    assert refused(done, "with --target which CoNLL-U column has the labels: id, form")
    assert refused(run(*train, folder / "train.conllu"), "choose the format with --format")
    assert refused(run(*train[:2], tmp_path / "none.txt", *train[3:]), "no such file")
    assert [each.name for each in tmp_path.iterdir()] == ["t"]


def test_words_are_never_taken_for_labels(folder, taggers, tmp_path, run, ask):
    """Nor is another column than the one that a model was trained on, where files are of another format."""
    text = folder / "test.txt"
    done = run("tag", "evaluate", taggers["upos"], text)
    assert refused(
        done, "which column has the labels: the columns are word, pos, chunk", "trained on 'upos'", "--target"
    )
    for options in (["--target", "chunk"], ["--columns", "word,pos,upos"]):
        assert ask("tag", "evaluate", taggers["upos"], text, *options)["unknown_labels"] == []
    told = ask("tag", "evaluate", taggers["upos"], text, "--columns", "word,upos,pos")
    assert told["unknown_labels"] == ["DT", "IN", "NN", "NNP", "VB"]
    bare = run("tag", "predict", taggers["upos"], folder / "bare.txt")
    assert bare.out == run("tag", "predict", taggers["chunks"], folder / "bare.txt").out
    (tmp_path / "words.txt").write_text("the\ncat\n")
    words = ["tag", "evaluate", taggers["words"], tmp_path / "words.txt", "--columns", "word"]
    assert refused(run(*words), "which column has the labels: the columns are word, the model")
    assert refused(run(*words, "--target", "word"), "which column has the labels")


def test_labels_are_there_in_all_lines_or_in_none(taggers, tmp_path, run):
    some = tmp_path / "some.txt"
    some.write_text("the DT B-NP\n\ncat NN\n")
    assert refused(run("tag", "predict", taggers["chunks"], some), f"{some}:3: 2 columns, expected 3 as before")
    some.write_text("the cat sleeps soundly\n")
    assert refused(run("tag", "predict", taggers["words"], some), "4 columns, expected at most 3", "--tokens")
    some.write_text("the cat sleeps\nRome\n")
    done = run("tag", "predict", taggers["words"], some)
    assert refused(done, f"{some}:2: 1 column, expected 3 as before", "use --tokens")


@pytest.mark.parametrize(
    ("options", "needed"),
    {
        "--rule pa --C 0.1": "--rule pa1 or pa2",
        "--rule pa1 --beta 2": "--rule margin",
        "--update early": "--beam",
        "--rule margin --k-best 3": "--rule pa, pa1 or pa2",
        "--k-best 3 --beam 4": "exact search, without --beam",
        "--rule pa --k-best 3 --beam 4": "exact search, without --beam",
        "--patience 2": "--validation",
        "--validation 1.5": "between 0 and 1",
        "--validation 0.001": "holds out no sentences: choose a larger share",
        "--validation 10%": "such as 0.1, got 10%",
    }.items(),
)
def test_options_that_do_not_go_together(options, needed, folder, tmp_path, run):
    args = ["tag", "train", folder / "train.txt", "-m", tmp_path / "m", "--features", "chunking"]
    assert refused(run(*args, *options.split()), needed)
    assert not list(tmp_path.iterdir())


def test_help(run):
    for verb in ("train", "predict", "evaluate"):
        out = run("tag", verb, "--help").out
        assert out.startswith(f"Usage: perceptrons tag {verb}") and f"  perceptrons tag {verb} " in out
    assert refused(run("tag", "trian"), "Did you mean 'train'?")
    assert refused(run("tag", "inspect"), "Use `perceptrons inspect`")


def test_labels_that_break_a_scheme_are_named(tmp_path, run, ask):
    """Training goes on without a scheme; with --quiet nothing is said."""
    right = "the B\ncat I\nsat O\n\n"
    (tmp_path / "t.txt").write_text(right * 3 + "a O\ndog I\n\n" + right)
    train = ["tag", "train", tmp_path / "t.txt", "--columns", "word,chunk", "--features", "pos"]
    train += ["--model", tmp_path / "m"]
    done = run(*train)
    assert done.code == 0 and "t.txt:14: 'I' after 'O': 1 of 5 sentences breaks BIO" in done.err
    assert "--scheme none" in done.err and "--scheme BIO" in done.err and ", no scheme" in done.out
    assert run(*train, "--quiet").err == run(*train, "--scheme", "none").err == ""
    done = run(*train, "--scheme", "BIO")
    assert done.code == 2 and "t.txt:13" in done.err
