"""Proofs by the command: the verdict as an exit code, saved, checked, and tampered with."""

import json
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons.cli.telling import certificates
from perceptrons.theory import separability

AND = "-1 0:0 1:0\n-1 1:1\n-1 0:1\n1 0:1 1:1\n"
XOR = "-1 0:0 1:0\n1 1:1\n1 0:1\n-1 0:1 1:1\n"
THREE = "0 0:1\n1 1:1\n2 2:1\n0 0:2\n"


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    ("text", "code", "word"), [(AND, 0, "separable"), (XOR, 1, "not separable"), (THREE, 0, "separable")]
)
def test_the_verdict_is_the_exit_code_and_its_proof_can_be_checked(text, code, word, write, tmp_path, run, ask):
    data, proof = write("a.svm", text), tmp_path / "proof.json"
    done = run("certify", data, "--save", proof)
    assert done.code == code and done.lines[1].startswith(word) and "at most" in done.out
    told = ask("certify", data, code=code)
    assert told["separable"] is (code == 0)
    assert (told["margin"] is not None) is (code == 0)
    done = run("certify", "--check", proof, data)
    assert done.code == 0 and "holds" in done.out
    assert ask("certify", "--check", proof, data)["holds"] is True
    other = write("b.svm", text.replace("0:1", "0:1.5"))
    done = run("certify", "--check", proof, other)
    assert done.code == 1 and "does not hold" in done.out
    assert ask("certify", "--check", proof, other, code=1)["reason"]
    assert run("certify", "--check", proof, write("c.svm", text * 2)).code == 1
    assert run("certify", "--check", proof, write("d.svm", text.replace("\n1 ", "\n5 ").replace("-1 ", "7 "))).code in (
        0,
        1,
    )


def test_without_a_bias(write, run):
    data = write("a.svm", AND)
    done = run("certify", data, "--no-intercept")
    assert done.code == 1 and "not separable without a bias, separable with one" in done.out


def test_tables_are_read_as_they_were(files, tmp_path, run):
    proof = tmp_path / "proof.json"
    assert run("certify", files / "mail.csv", "--target", "kind", "--text", "note", "--save", proof).code == 0
    done = run("certify", "--check", proof, files / "mail.csv")
    assert done.code == 0 and "read with --target kind --text note\n" in done.out
    assert len(json.loads(proof.read_text())["columns"]) == 8  # of 2^18 and more
    assert run("certify", "--check", proof, files / "mail.csv", "--target", "job").code == 1


def test_every_number_that_matters_is_checked(write, tmp_path, run):
    for text in (AND, XOR):
        data, proof, other = write("a.svm", text), tmp_path / "proof.json", tmp_path / "other.json"
        run("certify", data, "--save", proof)
        sound = json.loads(proof.read_text())
        changed = {
            "separable": not sound["separable"],
            "n_rows": 5,
            "n_features": 3,
            "radius": 0.5,
            "weights": ["1/3", *sound["weights"][1:]],
            "fit_intercept": False,
            "classes": [-1.0, 2.0],
            "margin_bounds": [9.0, 9.0],
            "augmented_margin": 3.0,
            "separator": [[1.0, 1.0, 0.0]],
            "coef": [[1.0, 0.0]],
            "point": [9.0, 9.0],
            "irreducible": [0, 1],
        }
        for name, value in changed.items():
            if name in sound:
                other.write_text(json.dumps(sound | {name: value}))
                assert run("certify", "--check", other, data).code in (1, 2), name


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{}", b"[]", b"\x80\x81", b"1 0:1\n", b'{"format": "perceptrons certificate"}',
        b'{"format": "perceptrons certificate", "version": 2}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_foreign_files_are_no_certificates(content, write, tmp_path, run):
    data, proof = write("a.svm", AND), tmp_path / "proof.json"
    proof.write_bytes(content)
    done = run("certify", "--check", proof, data)
    assert done.code == 2 and "error: " in done.err and len(done.err.splitlines()) == 1


def test_damaged_certificates_are_refused(write, tmp_path, run):
    data, proof, other = write("a.svm", AND), tmp_path / "proof.json", tmp_path / "other.json"
    run("certify", data, "--save", proof)
    sound = json.loads(proof.read_text())
    for name in set(sound) - {"perceptrons", "data", "options", "columns"}:
        other.write_text(json.dumps({key: value for key, value in sound.items() if key != name}))
        assert run("certify", "--check", other, data).code == 2, name
        for wrong in (None, "x", [["1/0"]], {"a": 1}, -1, [1, "a"], 1e400):
            other.write_text(json.dumps(sound | {name: wrong}))
            assert run("certify", "--check", other, data).code == 2, (name, wrong)
    text = proof.read_text()
    for end in range(0, len(text) - 2, 37):
        other.write_text(text[:end])
        assert run("certify", "--check", other, data).code == 2
    done = run("certify", "--check", tmp_path / "none.json", data)
    assert done.code == 2 and "No such file" in done.err


def test_exact_numbers_survive(tmp_path):
    random = np.random.default_rng(0)
    X, y = sp.csr_array(random.normal(size=(30, 3))), random.integers(0, 2, 30)
    verdict = separability(X, y)
    certificates.write(verdict, str(tmp_path / "c.json"), {})
    again, _ = certificates.read(str(tmp_path / "c.json"))
    assert again.weights == verdict.weights and sum(again.weights) == 1 and again.check(X, y)
    X, y = sp.csr_array([[0.0], [1e-300]]), np.array(["a", "b"])
    tiny = separability(X, y)
    certificates.write(tiny, str(tmp_path / "c.json"), {})
    again, _ = certificates.read(str(tmp_path / "c.json"))
    assert again.margin_bounds == tiny.margin_bounds and again.check(X, y)


@pytest.mark.parametrize("value", [0.1, 5e-324, Fraction(-3, 4), Fraction(10**18, 7), Fraction(-(2**20000), 3**9000)])
def test_numbers_are_read_back_to_the_last_bit(value):
    assert certificates._exact(json.loads(json.dumps(certificates._number(value)))) == value


def test_one_class_and_usage(write, run, tmp_path):
    data = write("a.svm", "1 0:1\n1 0:2\n")
    done = run("certify", data, "--save", tmp_path / "c.json")
    assert done.code == 0 and "one class only" in done.out
    assert run("certify", "--check", tmp_path / "c.json", data).code == 0
    assert run("certify", "--check", tmp_path / "c.json", data, "--no-intercept").code == 2
    assert run("certify", data, "--save", tmp_path / "nowhere" / "c.json").code == 2


def test_undecided_is_neither_yes_nor_no(write, run, ask, tmp_path):
    """A time limit that is over before the first step."""
    data = write("a.svm", AND)
    done = run("certify", data, "--save", tmp_path / "proof.json", "--time-limit", "1e-9")
    assert done.code == 3 and "undecided" in done.out and "no certificate" in done.err
    assert "the time limit of 1e-09 s is over" in done.out and "in one pass" in done.out
    assert not (tmp_path / "proof.json").exists()
    told = ask("certify", data, "--time-limit", "1e-9", code=3)
    assert told["separable"] is None and "allow more time" in told["reason"]


def test_a_time_limit_that_suffices_changes_nothing(write, run, tmp_path):
    data = write("a.svm", XOR)
    assert (
        run("certify", data, "--time-limit", "1000", "--save", tmp_path / "proof.json").out.splitlines()[:-1]
        == (run("certify", data, "--save", tmp_path / "other.json").out.splitlines()[:-1])
    )
    assert run("certify", data, "--time-limit", "0").code == 2
    assert run("certify", "--check", tmp_path / "proof.json", data, "--time-limit", "5").code == 2


def test_proofs_remember_that_there_is_no_header(run, tmp_path):
    rows, proof = tmp_path / "rows.csv", tmp_path / "proof.json"
    rows.write_text("1,2,yes\n-1,-2,no\n3,1,yes\n-2,0,no\n")
    assert run("certify", rows, "--no-header", "--no-quotes", "--target", "2", "--save", proof).code == 0
    checked = run("certify", "--check", proof, rows)
    assert checked.code == 0, checked.err
    assert "--no-header" in checked.out and "--no-quotes" in checked.out
