"""The program of a scene, run by Python, prints what the page shows."""

import ast
import re
import subprocess
import sys

import numpy as np
import pytest
from lab_cases import COVER, KERNEL_COVER, POLICIES, choice, decoded, kernel_choice, points, scene

from perceptrons.lab.answers import Session
from perceptrons.lab.messages import Choice, Look, Scene, Show, Write
from perceptrons.lab.program import program

NAMES = ["", 'say "no"', "it's", "back\\slash", "日本", "ß\n{x}"]
NUMBER = r"(-?(?:inf|nan|[\d.]+(?:e[-+]?\d+)?))"


def draw(random):
    """A model with choices of all kinds, and its number of classes."""
    common = {"order": str(random.choice(["given", "shuffled", "sorted"])), "random_state": int(random.integers(99))}
    common |= {"fit_intercept": bool(random.integers(2)), "tie": str(random.choice(["mistake", "positive"]))}
    common |= {"tol": [1e-3, None][random.integers(2)], "max_iter": int(random.integers(1, 30))}
    kind = random.integers(4)
    if kind == 0:
        policy, c = POLICIES[random.integers(len(POLICIES))]
        return kernel_choice(budget=5, policy=policy, threshold=0.05, gamma=0.5, **common), c
    if kind == 1:
        rule, readout, c = KERNEL_COVER[random.integers(len(KERNEL_COVER))]
        kernel = str(random.choice(["rbf", "poly", "linear", "laplacian", "sigmoid", "cosine"]))
        return kernel_choice(rule, readout, kernel=kernel, degree=3, gamma=0.25, coef0=0.5, **common), c
    rule, readout, c = COVER[random.integers(len(COVER))]
    if random.integers(2) and rule not in ("alma", "romma", "shifting"):
        common["eta0"] = 0.5
    return choice(rule, readout, init=str(random.choice(["zeros", "random"])), **common), c


def drawn(seed):
    random = np.random.default_rng(seed)
    made, n_classes = draw(random)
    X, y = points(int(random.integers(6, 20)), int(random.integers(1, 5)), n_classes, seed)
    classes = sorted(random.permutation(NAMES)[:n_classes].tolist()) if random.integers(2) else [-3, 1, 7][:n_classes]
    return scene(X, y, made, classes=classes, held_out=[0.0, 0.2, 0.01][random.integers(3)])


def run(text, capsys):
    """What a program prints, in a namespace of its own, and that namespace."""
    capsys.readouterr()
    space = {"__name__": "__main__"}
    exec(compile(text, "program", "exec"), space)
    return capsys.readouterr().out, space


def numbers(text, name):
    """The numbers of the array that is printed behind a name."""
    found = re.search(rf"^{name} = (.*?)^[a-z]", text, re.MULTILINE | re.DOTALL)
    return np.array(re.findall(r"-?[\d.]+(?:e[-+]?\d+)?", found[1]), dtype=float)


def one(pattern, text):
    return re.search(pattern, text, re.MULTILINE)[1]


def assert_prints_what_is_shown(shown, printed):
    (facts,) = shown["models"]
    assert int(one(r"^passes: (\d+)", printed)) == facts["n_iter"]
    assert int(one(r"mistakes: (\d+)", printed)) == facts["n_mistakes"]
    assert int(one(r"updates: (\d+)", printed)) == facts["n_updates"]
    assert one(r"^converged: (\w+)", printed) == str(facts["converged"])
    assert float(one(rf"^training error: {NUMBER}", printed)) == facts["training_error"]
    held_out = re.search(rf"^held-out error: {NUMBER}", printed, re.MULTILINE)
    assert (None if held_out is None else float(held_out[1])) == facts["validation_error"]
    if not facts["by_vote"]:
        np.testing.assert_allclose(numbers(printed, "b"), facts["intercept"], rtol=1e-5, atol=1e-5)
        if not facts["kernel"]:
            np.testing.assert_allclose(numbers(printed, "w"), np.ravel(facts["coef"]), rtol=1e-5, atol=1e-5)
    else:
        assert "\nb =" not in printed and not printed.startswith("w =")
    words = {True: "separable", False: "not separable"}
    with_bias, without = shown["verdicts"]
    verdict = f"{words[with_bias['separable']]} with a bias, {words[without['separable']]} without one"
    assert verdict in printed
    kernel = facts.get("verdict", {})
    assert kernel.get("separable") is None or ", in the kernel's feature space" in printed
    assert ("bound" in facts["bound"]) == (re.search(r"^at most .*rows\)$", printed, re.MULTILINE) is not None)
    if "bound" in facts["bound"]:
        assert facts["bound"]["text"] in printed


def imported(text):
    tree = ast.parse(text)
    names = [alias.asname or alias.name for node in tree.body if hasattr(node, "names") for alias in node.names]
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names, used


@pytest.mark.parametrize("seed", range(24))
def test_programs_print_what_the_page_shows(seed, capsys):
    asked = drawn(seed)
    session = Session()
    shown, arrays = decoded(session.answer(Show(1, asked)))
    text = decoded(session.answer(Write(2, asked)))[0]["program"]
    names, used = imported(text)
    assert set(names) <= used and len(set(names)) == len(names)
    printed, space = run(text, capsys)
    assert_prints_what_is_shown(shown, printed)
    if shown["models"][0]["kernel"] and asked.models[0].readout == "last":
        model, at = space["model"], np.setdiff1d(np.arange(len(asked.rows)), shown["held_out"])
        at = at[space["order"]] if "order" in space else at
        np.testing.assert_allclose(numbers(printed, "alpha"), model.dual_coef_.ravel(), rtol=1e-5, atol=1e-5)
        placed = np.zeros((len(model.dual_coef_), len(asked.rows)))
        np.add.at(placed.T, at[model.support_], model.dual_coef_.T)  # a budget may keep a row twice
        look = Look(3, 0, len(arrays["0.update"]), (0.0, 1.0, 0.0, 1.0), (2, 2))
        np.testing.assert_array_equal(decoded(session.answer(look))[1]["alpha"], placed)


def test_the_draws_are_worth_it():
    """They meet every kind of choice."""
    scenes = [drawn(seed) for seed in range(24)]
    models = [each.models[0] for each in scenes]
    assert {each.order for each in models} == {"given", "shuffled", "sorted"}
    assert {each.estimator for each in models} == {"Perceptron", "KernelPerceptron"}
    assert any(each.budget for each in models) and any(each.readout == "voted" for each in models)
    assert any(each.init == "random" for each in models) and any(each.eta0 != 1 for each in models)
    assert {round(each.held_out, 2) for each in scenes} == {0.0, 0.2, 0.01}
    assert {type(each.classes[0]) for each in scenes} == {int, str}


def test_as_a_file_of_its_own(tmp_path):
    X, y = points(9, 2, 2, 0)
    asked = scene(X, y, choice("pa1"), classes=["no", "ÿes"], held_out=0.2)
    (tmp_path / "program.py").write_text(program(asked, asked.models[0]), encoding="utf-8")
    done = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, check=True)
    assert_prints_what_is_shown(decoded(Session().answer(Show(1, asked)))[0], done.stdout)


def test_held_out_rows_whose_class_is_not_learned(capsys):
    """The lab leaves them out, and so does the program."""
    X, y = points(10, 2, 2, 1)
    held = np.random.RandomState(0).permutation(10)[:2]
    for codes in ([2, 2], [2, 1]):
        y[held] = codes
        asked = scene(X, y, held_out=0.2)
        shown = decoded(Session().answer(Show(1, asked)))[0]
        assert sorted(shown["held_out"]) == sorted(held)
        assert_prints_what_is_shown(shown, run(program(asked, asked.models[0]), capsys)[0])


def test_lines_are_short_and_readable():
    X, y = points(60, 2, 3, 0, integers=True)
    text = program(scene(X, y), Choice())
    data = text[: text.index("model =")]
    assert max(map(len, data.splitlines())) <= 100 and "\n\n\n" not in text
    wide = program(scene(*points(4, 64, 2, 0)), Choice())
    assert not any(line.strip() == "" for line in wide[wide.index("X =") : wide.index("y =")].splitlines())


def test_points_may_be_missing():
    for rows, labels in (([], []), ([[1.0, 2.0]], [0])):
        ast.parse(program(Scene(rows, labels, [0, 1]), Choice()))
