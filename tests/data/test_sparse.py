"""Sparse matrices with parts that do not fit together: every entry refuses them before compiled code reads them."""

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import KernelPerceptron, Perceptron
from perceptrons.data import as_rows
from perceptrons.plots import BoundaryDisplay
from perceptrons.theory import augment, margins, separability, trace

X = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0], [0.0, 0.0, 4.0], [5.0, 1.0, 0.0]])
Y = [0, 1, 0, 1]


def csr(**parts):
    made = sp.csr_array(X)
    for name, value in parts.items():
        setattr(made, name, value)
    return made


def other(form, **parts):
    made = getattr(sp, f"{form}_array")(X)
    for name, value in parts.items():
        setattr(made, name, value)
    return made


def coo(row):
    made = sp.coo_array(X)
    made.coords = np.array(row), made.coords[1]
    return made


def lil(row):
    made = sp.lil_array(X)
    made.rows[1] = row
    return made


def dok(key):
    made = sp.dok_array(X)
    made._dict[key] = 1.0
    return made


DATA, INDICES = sp.csr_array(X).data, sp.csr_array(X).indices
BAD = {
    "unsigned pointers fall": (csr(indptr=np.array([0, 2, 1, 4, 6], np.uint32)), "fall from 2 to 1 at row 1"),
    "pointers fall": (csr(indptr=np.array([0, 2, 1, 4, 6])), "fall from 2 to 1 at row 1"),
    "NaN in pointers": (csr(indptr=np.array([0, np.nan, 3, 4, 6])), "indptr has type float64, expected integers"),
    "too few pointers": (csr(indptr=np.array([0, 2, 6])), "3 row pointers, expected 5 for 4 rows"),
    "too many pointers": (csr(indptr=np.array([0, 2, 3, 4, 6, 6])), "6 row pointers, expected 5"),
    "pointers beyond the values": (csr(indptr=np.array([0, 2, 3, 4, 9])), "end with 9, but it has 6 values"),
    "huge pointers": (csr(indptr=np.array([0, 2, 3, 4, 2**64 - 1], np.uint64)), "but it has 6 values"),
    "pointers begin with 1": (csr(indptr=np.array([1, 2, 3, 4, 6])), "begin with 1, expected 0"),
    "a matrix of pointers": (csr(indptr=np.zeros((5, 1), int)), r"indptr has shape \(5, 1\), expected 1 axis"),
    "a matrix of indices": (csr(indices=np.zeros((6, 1), int)), r"indices has shape \(6, 1\), expected 1 axis"),
    "a matrix of values": (csr(data=np.zeros((6, 1))), r"data has shape \(6, 1\), expected 1 axis"),
    "lists": (csr(indptr=[0, 2, 3, 4, 6]), "indptr is of type list, expected an array"),
    "no values": (csr(data=None), "data is of type NoneType, expected an array"),
    "fewer values than indices": (csr(data=DATA[:5]), "5 values but 6 indices"),
    "an index outside": (
        csr(indices=np.array([1, 2, 0, 2, 0, 3])),
        "(index 3 in row 3 is outside|range from 0 to 3)",
    ),
    "a negative index": (
        csr(indices=np.array([1, 2, -1, 2, 0, 1])),
        "(index -1 in row 1|range from -1 to 2)",
    ),
    "half an index": (csr(indices=INDICES + 0.5), "indices has type float64, expected integers"),
    "a bad column pointer": (other("csc", indptr=np.array([0, 2, 1, 6])), "column pointers fall from 2 to 1"),
    "an index outside of a CSC matrix": (other("csc", indices=np.array([1, 3, 0, 3, 0, 9])), "range from 0 to 9"),
    "an index outside of a BSR matrix": (
        other("bsr", indices=np.full_like(sp.bsr_array(X).indices, 7)),
        "range from 7 to 7",
    ),
    "a coordinate outside": (coo([0, 0, 1, 2, 3, 4]), "range from 0 to 4, expected 0 to 3"),
    "too few coordinates": (coo([0, 0, 1]), "3 coordinates of type int64 for 6 values"),
    "too few offsets": (other("dia", offsets=np.array([0])), "diagonals but 1 offsets"),
    "an offset far outside": (
        other("dia", offsets=np.append(sp.dia_array(X).offsets[:-1], 2**31 - 1).astype(np.int32)),
        "outside of",
    ),
    "a list that is too short": (lil([]), "row 1 is not a list of indices and a list of as many values"),
    "a list with an index outside": (lil([7]), "row 1 has an index that is not a column from 0 to 2"),
    "a key outside": (dok((9, 9)), r"an entry at \(9, 9\), outside"),
}
ENTRIES = {
    "fit": lambda X: Perceptron().fit(X, Y),
    "partial_fit": lambda X: Perceptron().partial_fit(X, Y),
    "predict": lambda X: Perceptron().fit([[0.0] * 3, [1.0] * 3], [0, 1]).predict(X),
    "kernel": lambda X: KernelPerceptron().fit(X, Y),
    "held out": lambda X_val: Perceptron().fit(X, Y, X_val=X_val, y_val=Y),
    "trace": lambda X: trace(Perceptron(), X, Y),
    "separability": lambda X: separability(X, Y),
    "margins": lambda X: margins(X, Y, [1.0, 1.0, 1.0]),
    "augment": augment,
    "plot": lambda X_bad: BoundaryDisplay.from_estimator(Perceptron().fit(X, Y), X_bad, Y),
}


@pytest.mark.parametrize("case", BAD)
def test_every_entry_refuses(case):
    matrix, message = BAD[case]
    for use in ENTRIES.values():
        with pytest.raises(ValueError, match=message):
            use(matrix)


def test_spare_room_is_not_read():
    """SciPy allows arrays that are longer than the last row pointer says."""
    roomy = csr(data=np.append(DATA, [1e300, np.nan]), indices=np.append(INDICES, [77, -5]))
    model, expected = (KernelPerceptron(gamma="scale").fit(matrix, Y) for matrix in (roomy, csr()))
    assert model.gamma_ == expected.gamma_
    assert (model.decision_function(roomy) == expected.decision_function(X)).all()
    assert len(as_rows(roomy).values) == 6


@pytest.mark.parametrize("kind", ["i1", "u2", ">i4", ">i8", "u8", "i4"])
def test_types_of_indices_do_not_matter(kind):
    odd = csr(indices=INDICES.astype(kind), indptr=sp.csr_array(X).indptr.astype(kind))
    rows = as_rows(odd)
    assert rows.matrix().toarray().tolist() == X.tolist()


def test_layout_of_values_does_not_matter():
    assert as_rows(csr(data=np.repeat(DATA, 2)[::2])).matrix().toarray().tolist() == X.tolist()


def test_a_wrong_flag_does_not_hide_duplicates():
    twice = sp.csr_array((np.ones(4), np.array([1, 1, 0, 2]), np.array([0, 3, 4])), shape=(2, 3))
    twice.has_canonical_format = True
    assert as_rows(twice).matrix().toarray().tolist() == [[1, 2, 0], [0, 0, 1]]


@pytest.mark.parametrize("form", ["csc", "bsr", "coo", "dia", "lil", "dok"])
def test_valid_matrices_of_every_format_are_accepted(form):
    matrix = getattr(sp, f"{form}_array")(X)
    assert Perceptron().fit(matrix, Y).converged_
    assert separability(matrix, Y).separable
    assert augment(matrix).toarray()[:, :3].tolist() == X.tolist()
