"""What a model in a kernel's feature space says once it has learned: support rows, coefficients, lengths."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from perceptrons.models import validation

Array = npt.NDArray[Any]


class SupportModel:
    """For classifiers around a learner that is an expansion in support rows."""

    _learner: Any  # there once it is fitted
    kernel: Any
    classes_: Array
    n_features_in_: int

    def _order(self) -> Array:
        """Support rows by class, then by number."""
        check_is_fitted(self)
        return np.lexsort((self._learner.numbers, self._learner.codes))

    @property
    def support_(self) -> npt.NDArray[np.intp]:
        """Numbers of the support rows in X, or in a stream since its beginning; by class, then by number."""
        return np.asarray(self._learner.numbers[self._order()])

    @property
    def n_support_(self) -> npt.NDArray[np.intp]:
        """How many support rows each class has."""
        check_is_fitted(self)
        return np.bincount(self._learner.codes, minlength=len(self.classes_))

    @property
    def support_vectors_(self) -> Any:
        """The support rows, in the order of `support_`; empty for a precomputed kernel."""
        order = self._order()
        if self._learner.space.kernel == "precomputed":
            return np.empty((0, 0))
        pieces = [piece.matrix() for piece in self._learner.support.pieces]
        if not pieces:
            return np.empty((0, self.n_features_in_))
        if any(map(sp.issparse, pieces)):
            return sp.vstack(pieces, format="csr")[order]
        return np.vstack(pieces)[order]

    @property
    def dual_coef_(self) -> npt.NDArray[np.float64]:
        """Coefficients of the support rows, of shape (1, n_support) or (n_classes, n_support)."""
        order = self._order()
        return np.asarray(self._lines()[:, order])

    @property
    def intercept_(self) -> npt.NDArray[np.float64]:
        """Bias, of shape (1,) or (n_classes,): the sum of the coefficients, if there is one."""
        check_is_fitted(self)
        return np.asarray(self._lines().sum(axis=1) * self._learner.bias)

    def _lines(self) -> npt.NDArray[np.float64]:
        if self._learner.by_vote:
            raise AttributeError("readout='voted' has no dual_coef_ and no intercept_: many hypotheses vote")
        coef = self._learner.coefficients
        return np.asarray(coef[np.newaxis] if coef.ndim == 1 else coef.T)

    @property
    def gamma_(self) -> float:
        """γ as it was worked out."""
        check_is_fitted(self)
        return float(self._learner.space.gamma)

    @property
    def projection_error_(self) -> float:
        """With a projectron: the largest relative residual of a projection so far."""
        check_is_fitted(self)
        error = getattr(self._learner, "projection_error", None)
        if error is None:
            raise AttributeError("there is a projection_error_ with a budget and a projectron only")
        return float(error)

    def kernel_matrix(self, X: Any, Y: Any = None) -> npt.NDArray[np.float64]:
        """k(x, x′) of all rows of X with all rows of Y (None: X) in float64, without the constant of the bias.

        That of X with itself is symmetric, and rows that are equal have equal values, to the last bit.
        """
        check_is_fitted(self)
        if self._learner.space.kernel == "precomputed":
            raise ValueError("kernel='precomputed' knows no kernel: the matrix is what was given to fit")
        space = replace(self._learner.space, bias=0.0)
        rows = validation.features(self, X, reset=False).widened()
        if Y is not None:
            others = validation.features(self, Y, reset=False, input_name="Y").widened()
            return np.asarray(space.products(rows, others), dtype=np.float64)
        first = rows.first_of_equals()
        K = np.triu(space.products(rows, rows)[np.ix_(first, first)])
        return np.asarray(K + np.triu(K, 1).T)

    def kernel_error(self, X: Any) -> float:
        """A bound on the rounding errors in the kernel matrix of these rows.

        With it, what is proved about the matrix holds for the kernel itself:
        ``separability(K=model.kernel_matrix(X), y=y, K_error=model.kernel_error(X))``. The values of a user's function
        are taken as they are.
        """
        check_is_fitted(self)
        rows = validation.features(self, X, reset=False)
        return float(self._learner.space.error(rows.n_features, float(rows.sq_norm.max())))

    def feature_space_norm(self) -> float:
        """‖w‖ in the kernel's feature space, over all classes and without the bias."""
        check_is_fitted(self)
        lines = self._lines()
        square, error = self._learner.sq_length(lines.T if len(lines) > 1 else lines[0])
        if not self._learner.space.definite or square + error < 0.0:
            raise ValueError(
                f"kernel={self.kernel!r} is not positive semi-definite with these parameters: there is no feature "
                "space, and w has no length there"
            )
        return float(np.sqrt(max(0.0, square - float((self.intercept_**2).sum()))))

    def normalized(self) -> Self:
        """The same model with ‖w‖ = 1: decision values are then signed distances in feature space."""
        length = self.feature_space_norm()
        if length == 0.0:
            raise ValueError("all coefficients are 0: there is no boundary, and nothing to normalize")
        model = copy.deepcopy(self)
        model._learner.scale(1.0 / length)
        return model
