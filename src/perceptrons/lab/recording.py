"""Train a model on the rows of a scene, and record every update."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from perceptrons import rules
from perceptrons.core.jit import native
from perceptrons.lab.limits import VISITS
from perceptrons.lab.messages import Choice
from perceptrons.lab.observers import CoefficientNotes, WeightNotes, by_row
from perceptrons.lab.scene import Rows, estimator_of
from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import InMemory, Passes, Run, fit
from perceptrons.learn.kernel.learner import KernelLearner
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.readouts import READOUTS
from perceptrons.learn.watching import Watched
from perceptrons.theory.trace import Trace, trace

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

MANY = 2_000  # calls that take longer than the import of Numba, if they are made without it
WATCHED = 20_000  # rows that are visited one by one, for models that `trace` does not record
COEFFICIENTS = 4_000_000  # numbers that the coefficients after all recorded updates may take


@dataclass(eq=False)
class Recording:
    """A fitted model, and what each of its updates did.

    Position k is the time from update k until just before update k + 1; position 0 is before the first update, and the
    last one ends with the run. `columns` have one entry for each recorded update. `path` has the hypothesis at each
    position, of shape (positions, vectors, weights): the weights of the features and the bias, or the coefficients of
    the rows; `readout` has what predicts there, if that is another hypothesis. It is None if many hypotheses vote.
    """

    model: Any
    rows: Rows
    run: Run
    learner: Any  # before its first row
    examples: Examples | None  # None if updates are not recorded
    columns: dict[str, Array] = field(default_factory=dict)
    path: Floats = field(default_factory=lambda: np.zeros((1, 1, 1)))
    readout: Floats | None = None
    trace: Trace | None = None

    @property
    def complete(self) -> bool:
        """Whether updates are recorded."""
        return self.examples is not None

    @property
    def kernel(self) -> bool:
        """Whether hypotheses are coefficients of rows."""
        return not isinstance(self.learner, LinearLearner)

    @property
    def by_vote(self) -> bool:
        """Whether many hypotheses vote."""
        return bool(self.learner.readout.by_vote)

    def lasts(self) -> Floats:
        """For each position, the number of examples for which its hypothesis was in force."""
        seen = self.columns["seen"]
        begins = np.concatenate([[1.0], seen, [self.model.n_seen_ + 1.0]])
        return np.diff(begins)


def traceable(choice: Choice) -> bool:
    """Whether `trace` records this model, which takes no longer than fitting."""
    along = rules.kind_of(rules.RULES[choice.rule]) == "tau" and not READOUTS[choice.readout].weighs_all_rows
    return choice.estimator == "Perceptron" and along


def fitted(choice: Choice, rows: Rows) -> Recording:
    """Fit a model, without notes: there is only the last position."""
    model = _fit(choice, rows, rows)
    run = Run(stop="converged" if model.converged_ else "max_iter", converged=model.converged_)
    columns: dict[str, Array] = {name: np.empty(0) for name in ("update", "seen", "row", "sq_norm")}
    found = Recording(model, rows, run, model._learner, None, columns)
    weights = len(rows.X) if found.kernel else rows.X.shape[1] + 1
    found.path = np.zeros((1, 1 if len(model.classes_) == 2 else len(model.classes_), weights))
    found.path[-1] = final(found, model._learner.current)
    if not found.by_vote:
        found.readout = final(found, model._learner.weights)[np.newaxis]
    return found


def _fit(choice: Choice, rows: Rows, beside: Rows) -> Any:
    """The model, fitted as a user would."""
    model = estimator_of(choice)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the page says how the run ended
        return model.fit(rows.X, rows.y, X_val=beside.X_val, y_val=beside.y_val)


def record(choice: Choice, rows: Rows) -> Recording:
    """Fit a model with a note of each update: of the run itself, or of the same run repeated."""
    if traceable(choice):
        return _traced(choice, rows)
    model = estimator_of(choice)
    model._validate_params()
    start = (model._start(None, None),) if choice.estimator == "Perceptron" else ()
    task, fresh = model._prepare(rows.X, rows.y, None, rows.X_val, rows.y_val, *start)
    learner, examples = copy.deepcopy(task.learner), task.material.examples
    again, most, material = copy.deepcopy(learner), WATCHED, InMemory(examples)
    notes: Any
    if choice.estimator == "KernelPerceptron":
        most = min(most, COEFFICIENTS // (len(rows.X) * (1 if learner.n_classes <= 2 else learner.n_classes)))
        notes = again.watcher = CoefficientNotes(learner, examples, most)
    else:
        notes = WeightNotes(again, examples)
        material = Watched(examples, notes, most)
    itself = isinstance(learner, KernelLearner)  # a budget's passes are always cut in the same way, these are not
    if itself:
        task.learner.watcher = notes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        run = model._train(task, fresh, stacklevel=2)
    if itself:
        model._learner.watcher = None
    else:
        if min(most, run.n_iter * len(rows.X)) > MANY:
            native.disable()
        fit(again, material, Passes(run.n_iter, seed=task.passes.seed))
    found = Recording(model, rows, run, learner, examples)
    gram = (model.kernel_matrix(rows.X) + learner.bias,) if found.kernel else ()
    found.columns, found.path, found.readout = notes.finish(*gram)
    return _complete(found)


def _traced(choice: Choice, rows: Rows) -> Recording:
    """The same for rules that step along rows, which `trace` records at the speed of compiled code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = trace(estimator_of(choice), rows.X, rows.y, X_val=rows.X_val, y_val=rows.y_val, limit=VISITS)
    rerun, run = found.rerun, Run(stop=found.stop, converged=found.converged)
    classes, weights = found.model.classes_, found.hypotheses()
    columns = {
        "update": found.update,
        "seen": found.seen,
        "row": found.row,
        "code": np.searchsorted(classes, found.label),
        "rival": np.searchsorted(classes, found.rival),
        "mistake": found.kind != "margin",
        "before": found.margin_before,
        "after": found.margin_after,
        "tau": found.tau,
        "sq_norm": found.sq_norm,
    }
    if found.progress is not None:
        columns["progress"] = found.progress
    path = np.concatenate([rerun.learner.current[np.newaxis], weights])
    path = path[:, np.newaxis] if path.ndim == 2 else path.transpose(0, 2, 1)
    path = path * np.append(np.ones(path.shape[2] - 1), rerun.learner.bias)  # b = c·(the last weight)
    recording = Recording(found.model, rows, run, rerun.learner, rerun.examples, columns, path, trace=found)
    if rerun.learner.readout.sums:
        recording.readout = averages(path, recording.lasts())
    return _complete(recording)


def averages(path: Floats, lasts: Floats) -> Floats:
    """The mean of all hypotheses over the examples for which they were in force, at the end of each position."""
    total = np.cumsum(path * lasts[:, np.newaxis, np.newaxis], axis=0)
    seen = np.cumsum(lasts)[:, np.newaxis, np.newaxis]
    return np.where(seen > 0, total / np.maximum(seen, 1.0), path)


def _complete(recording: Recording) -> Recording:
    """Number rows as in the scene; the last position is the fitted model itself, to the last bit."""
    row = recording.columns["row"]
    recording.columns["row"] = np.where(row >= 0, recording.rows.at[row], -1)
    recording.path[-1] = final(recording, recording.model._learner.current)
    if recording.readout is not None:
        recording.readout[-1] = final(recording, recording.model._learner.weights)
    return recording


def final(recording: Recording, weights: Floats) -> Floats:
    """A hypothesis of the fitted model, in the shape of one in the path."""
    learner = recording.model._learner
    if not recording.kernel:
        lines = weights[np.newaxis] if weights.ndim == 1 else weights.T
        return np.asarray(lines * np.append(np.ones(lines.shape[1] - 1), learner.bias))
    return by_row(weights, learner.state["numbers"], recording.path.shape[2])


def training_errors(choice: Choice, rows: Rows) -> Array:
    """The error on the training rows after each pass: `fit` measures it as if they were held out."""
    return np.asarray(_fit(choice, rows, replace(rows, X_val=rows.X, y_val=rows.y)).validation_errors_)
