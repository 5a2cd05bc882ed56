"""A slow repetition of a recorded run: every position follows from the one before it by the rule's formula."""

import numpy as np
from lab_cases import METRIC, SCALE, order_of
from naive import Naive, augmented, tau
from naive_kernel import kernel
from naive_shapes import TINY, alpha_and_c, scaled_step

from perceptrons import rules


def close(ours, theirs, tolerance=1e-9):
    size = np.abs(theirs).max() if np.size(theirs) else 0.0
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * max(size, 1e-300))


class Replay:
    """The formulas, applied to the recorded hypotheses. With a kernel, a hypothesis has a coefficient for each row."""

    def __init__(self, made, recording):
        self.made, self.recording, rows = made, recording, recording.rows
        self.rule, self.params = made.rule, rules.RULES[made.rule](**made.params)._asdict()
        self.codes = np.unique(rows.y, return_inverse=True)[1]
        self.judge = Naive(made.rule, classes=range(self.codes.max() + 1), tie=made.tie)
        if made.estimator == "Perceptron":
            self.features = self.directions = augmented(rows.X, made.fit_intercept)
        else:
            shape = {"gamma": made.gamma, "degree": made.degree, "coef0": made.coef0}
            self.features = kernel(made.kernel, rows.X, rows.X, **shape) + made.fit_intercept
            self.directions = np.eye(len(rows.X))
        prior = np.full(self.features.shape[1], self.params.get("a", 1.0))
        self.precision = [np.diag(prior) for _ in recording.path[0]]  # Σ⁻¹ of each weight vector
        self.k = 0  # steps so far

    def order(self):
        path, n_iter = self.recording.path, self.recording.model.n_iter_
        drawn = None
        if self.made.init == "random":
            drawn = path.shape[2] if path.shape[1] == 1 else path.shape[:0:-1]
        return order_of(self.made, len(self.codes), n_iter, drawn)

    def step(self, w, i, margin, mistake, moves):
        """The hypothesis after row i, None if it stays; and what is recorded of the step."""
        m = TINY if margin <= 0 and not mistake else margin
        x, z = self.features[i], np.zeros_like(w)
        for line, sign in moves:
            z[line] = sign * self.directions[i]
        if self.rule in SCALE:
            after = scaled_step(self.rule, w.ravel(), z.ravel(), m, self.k, **self.params)
            return None if after is None else after.reshape(w.shape), {}, None
        if self.rule in METRIC:
            sigma = {line: np.linalg.inv(self.precision[line]) for line, _ in moves}
            v = sum(x @ sigma[line] @ x for line, _ in moves)
            alpha, c = alpha_and_c(self.rule, m, v, **self.params)
            along = np.zeros_like(w)
            for line, sign in moves:
                along[line] = sign * sigma[line] @ x
            noted = {"tau": self.made.eta0 * alpha, "second": c, "variance": v}
            return (w + self.made.eta0 * alpha * along if alpha else None), noted, c
        if self.rule == "uneven":
            t = float(m <= self.params["beta_positive" if moves[0][1] > 0 else "beta_negative"])
        else:
            t = tau(self.rule, m, len(moves) * (x @ self.directions[i]), **self.params)
        return (w + self.made.eta0 * t * z if t else None), {"tau": self.made.eta0 * t}, None

    def check(self, tolerance):
        """Compare all updates and positions. Return the sum of mistakes, and the sum of hypotheses over examples."""
        found, columns = self.recording, self.recording.columns
        w, mistakes, total = found.path[0], 0, np.zeros_like(found.path[0])
        for t, i in enumerate(self.order(), 1):
            code = int(self.codes[i])
            margin, rival = self.judge.margin(w, self.features[i], code)
            mistake = self.judge.wrong(w, self.features[i], code)
            moves = [(0, 2 * code - 1)] if rival is None else [(code, 1), (rival, -1)]
            after, noted, c = self.step(w, i, margin, mistake, moves)
            mistakes += mistake
            if self.k < len(columns["seen"]) and columns["seen"][self.k] == t:
                if found.readout is not None and found.learner.readout.sums and t > 1:
                    close(found.readout[self.k], total / (t - 1), tolerance)  # the mean up to this example
                assert columns["update"][self.k] == self.k + 1 and columns["row"][self.k] == found.rows.at[i]
                assert columns["code"][self.k] == code and columns["mistake"][self.k] == mistake
                assert columns["rival"][self.k] == (1 - code if rival is None else rival)
                close(columns["before"][self.k], margin, tolerance * 10 + 1e-12)
                after = w if after is None else after  # a step as long as a rounding error
                close(found.path[self.k + 1], after, tolerance)
                reached = self.judge.margin(after, self.features[i], code)[0]
                np.testing.assert_allclose(columns["after"][self.k], reached, rtol=1e-6, atol=1e-6)
                for name, value in noted.items():
                    close(columns[name][self.k], value, max(tolerance, 1e-7))
                for line, _ in moves if c else []:
                    gain = c * np.outer(self.features[i], self.features[i])
                    full = self.params.get("covariance") == "full"
                    self.precision[line] += gain if full else np.diag(np.diag(gain))
                w, self.k = found.path[self.k + 1], self.k + 1
                squares = (w * w).sum() if self.features is self.directions else np.sum((w @ self.features) * w)
                squares = max(0.0, squares)  # a kernel that is not definite may have others
                np.testing.assert_allclose(columns["sq_norm"][self.k - 1], squares, rtol=1e-8, atol=1e-9)
            elif after is not None:
                close(after, w)  # no step, or one as long as a rounding error
            total += w
        assert self.k == len(columns["seen"]) == len(found.path) - 1
        return mistakes, total
