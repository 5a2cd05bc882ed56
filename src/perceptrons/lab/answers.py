"""Answers to what a page asks. A `Session` belongs to one page, and remembers the scene that it showed last."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons import __version__, rules
from perceptrons.lab import limits, messages, proofs, sets
from perceptrons.lab import scene as scenes
from perceptrons.lab.looking import Looker
from perceptrons.lab.messages import Choice, Look, Named, Read, Scene, Show, Write, plain
from perceptrons.lab.program import program
from perceptrons.lab.recording import Recording, fitted, record, traceable, training_errors
from perceptrons.learn.kernel.budget import POLICIES
from perceptrons.learn.kernel.feature_space import KERNELS
from perceptrons.learn.readouts import READOUTS
from perceptrons.plots.plane import Plane, choose
from perceptrons.solver.rounding import up
from perceptrons.solver.threads import one_thread
from perceptrons.theory.recorded import STOPS

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Answer = tuple[dict[str, Any], dict[str, Array]]  # its head, and arrays by name
SKETCHED = 400  # updates that are sent of each model while a point is dragged
WEIGHTS = 4_000_000  # numbers up to which all weights are sent, not only their directions in the plane
ENDS = {  # how runs end, in the words of the page
    **STOPS,
    "margin": "gave up: if a line separates the points at all, its margin is below {share:g} % of R",
    "inseparable": "gave up: no line separates the points",
    "stuck": "gave up: the last pass made mistakes, but no step",
    "max_iter": "stopped after the last pass",
    "settled": "stopped: more passes no longer changed the predictions",
    "stalled": "stopped: recent passes made no fewer mistakes",
}


def welcome(file: str | None) -> dict[str, Any]:
    """What a page needs to know before its first scene."""
    return {
        "version": __version__,
        "file": file,
        "rules": [_rule(name, rule) for name, rule in rules.RULES.items()],
        "readouts": list(READOUTS),
        "kernels": {name: inspect.getdoc(formula) for name, formula in KERNELS.items()},
        "uses": scenes.USED_BY,
        "policies": list(POLICIES),
        "sets": [{"name": name, "title": each.title, "about": each.about} for name, each in sets.SETS.items()],
        "limits": {
            "rows": limits.ROWS,
            "features": limits.FEATURES,
            "classes": limits.CLASSES,
            "visits": limits.VISITS,
            "bytes": limits.BYTES,
        },
    }


def _rule(name: str, rule: Any) -> dict[str, Any]:
    """A rule of the registry: its description, and its parameters with their defaults."""
    parameters = [
        {"name": each, "about": rule.parameters[each], "default": usual, "choices": rules.CHOICES.get(each)}
        for each, usual in rule._field_defaults.items()
    ]
    kind = rules.kind_of(rule)
    combines = {"kernels": kind == "tau", "voted": kind == "tau", "several": not rules.takes_label(rule)}
    return {"name": name, "kind": kind, "about": inspect.getdoc(rule), "parameters": parameters, **combines}


class Session:
    """One page: what it showed last, and the file that the command names."""

    def __init__(self, file: str | None = None) -> None:
        self.file = file
        self.lookers: list[Looker | None] = []

    def answer(self, request: Any) -> bytes:
        """Answer a request; what is wrong with it becomes an answer, too."""
        act: Any = {Show: self.show, Look: self.look, Named: self.named, Read: self.read, Write: self.write}
        try:
            # Scenes are small: threads of BLAS would wait for each other. Numbers that overflow are shown as they are.
            with one_thread(), np.errstate(all="ignore"):
                head, arrays = act[type(request)](request)
        except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
            head, arrays = {"error": " ".join(str(error).split()) or type(error).__name__}, {}
        return messages.encoded({"id": request.id, **plain(head)}, arrays)

    def named(self, request: Named) -> Answer:
        """The points of a named set."""
        rows, labels = sets.points_of(request.name)
        return {"rows": rows, "labels": labels}, {}

    def read(self, request: Read) -> Answer:
        """The numbers and labels of a table."""
        from perceptrons.lab import reading  # the page is there sooner without it

        content = request.content if request.text is None else request.text.encode()
        if content is not None:
            table = reading.read_bytes(request.name, content, request.target)
        elif self.file is not None:
            table = reading.read_path(self.file, request.target)
        else:
            raise ValueError("there is no file to read: paste a table, or choose a file")
        return {**table._asdict(), "values": table.values.tolist()}, {}

    def write(self, request: Write) -> Answer:
        """The program that makes a fit."""
        scenes.check(request.scene)
        if not 0 <= request.model < len(request.scene.models):
            raise ValueError(f"model {request.model} does not exist: the scene has {len(request.scene.models)}")
        return {"program": program(request.scene, request.scene.models[request.model])}, {}

    def look(self, request: Look) -> Answer:
        """Scores over a grid, and coefficients of rows."""
        looker = self.lookers[request.model] if 0 <= request.model < len(self.lookers) else None
        if looker is None:
            raise ValueError("this model has not been shown")
        scores, predicted = looker.look(request.at, request.view, request.size)
        arrays: dict[str, Array] = {"scores": scores, "predicted": predicted}
        recording = looker.recording
        if recording.kernel:
            coef = recording.path[request.at]
            arrays["alpha"] = np.zeros((len(coef), len(looker.X)))
            arrays["alpha"][:, recording.rows.at] = coef
        return {"at": request.at}, arrays

    def show(self, request: Show) -> Answer:
        """Verdicts on the rows, and each model with its updates."""
        scene, self.lookers = request.scene, []
        scenes.check(scene)
        rows = scenes.rows_of(scene, Choice())
        head: dict[str, Any] = {"whole": request.whole, "held_out": np.flatnonzero(scenes.held_out(scene))}
        arrays: dict[str, Array] = {}
        if len(np.unique(rows.y)) < 2:
            why = "Add points of another class." if len(rows.y) else "Add points: click the plane."
            return {**head, "verdicts": [], "models": [{"error": why} for _ in scene.models]}, {}
        head["verdicts"] = [proofs.verdict(rows, bias) for bias in (True, False)]
        shown, plane = [], None
        for number, choice in enumerate(scene.models):
            try:
                facts, columns, plane = self._model(scene, choice, request.whole, plane)
            except (ValueError, TypeError) as error:
                shown.append({"error": " ".join(str(error).split())})
                self.lookers.append(None)
                continue
            shown.append(facts)
            arrays |= {f"{number}.{name}": column for name, column in columns.items()}
        head["models"] = shown
        plane = plane or choose(_all_rows(scene), list(scene.names), None, None, 2)
        head["plane"] = {"names": plane.names, "points": plane.project(_all_rows(scene))}
        return head, arrays

    def _model(
        self, scene: Scene, choice: Choice, whole: bool, plane: Plane | None
    ) -> tuple[dict[str, Any], dict[str, Array], Plane]:
        """One model: facts, arrays with an entry for each update or position, and the plane in which all is drawn."""
        rows = scenes.rows_of(scene, choice)
        recording = record(choice, rows) if whole or traceable(choice) else fitted(choice, rows)
        plane = plane or _plane(scene, recording)
        facts, star = _facts(choice, recording), None
        if recording.kernel and whole:
            facts["verdict"], star = proofs.kernel_verdict(recording)
        if recording.complete:
            facts["bound"] = proofs.bound(recording)
            facts["proof"] = proofs.lines(recording, facts.get("verdict"), star)
        if whole:
            facts["training_errors"] = training_errors(choice, rows)
        arrays = _arrays(recording, plane)
        self.lookers.append(Looker(recording, plane, _all_rows(scene)))
        return facts, arrays if whole else _thinned(arrays), plane


def _all_rows(scene: Scene) -> Floats:
    return np.array(scene.rows, dtype=np.float64).reshape(len(scene.rows), len(scene.names))


def _plane(scene: Scene, recording: Recording) -> Plane:
    """The plane that a boundary picture shows: of the two features, or of the weights."""
    model, n_classes = recording.model, len(recording.model.classes_)
    coef = intercept = None
    if not recording.kernel and not recording.by_vote and model.coef_.any():
        coef, intercept = model.coef_, model.intercept_
    return choose(_all_rows(scene), list(scene.names), coef, intercept, n_classes)


def _facts(choice: Choice, recording: Recording) -> dict[str, Any]:
    """What the page tells of a fitted model."""
    model, rows = recording.model, recording.rows
    bound = float(model.margin_bound_)
    facts: dict[str, Any] = {
        "repr": repr(model),
        "kind": rules.kind_of(recording.learner.rule),
        "kernel": recording.kernel,
        "by_vote": recording.by_vote,
        "classes": model.classes_,
        "stop": ENDS[recording.run.stop].format(share=100 * (model.tol or 0.0)),
        "converged": bool(model.converged_),
        "n_iter": model.n_iter_,
        "n_seen": model.n_seen_,
        "n_mistakes": model.n_mistakes_,
        "n_updates": model.n_updates_,
        "n_rows": len(rows.X),
        "mistakes": model.mistakes_,
        "validation_errors": model.validation_errors_,
        "training_error": 1.0 - model.score(rows.X, rows.y),
        "validation_error": None if rows.X_val is None else 1.0 - model.score(rows.X_val, rows.y_val),
        "margin_bound": bound,
        "shown_margin_bound": up(bound) if np.isfinite(bound) else None,
        "eta0": model.eta0,
        "gamma": model.gamma_ if recording.kernel else None,
    }
    if not recording.by_vote:
        facts["intercept"] = model.intercept_
        facts["coef"] = None if recording.kernel else model.coef_
    if recording.kernel:
        facts["support"] = rows.at[model.support_]
    return facts


def _arrays(recording: Recording, plane: Plane) -> dict[str, Array]:
    """Columns of the updates, and hypotheses at all positions."""
    arrays = dict(recording.columns)
    if recording.kernel:
        return arrays
    for name, path in (("path", recording.path), ("readout", recording.readout)):
        if path is None:
            continue
        w, b = path[..., :-1], path[..., -1:]
        if w.shape[2] != 2:
            arrays[f"{name}.plane"] = np.concatenate([w @ plane.directions.T, w @ plane.origin[:, None] + b], axis=2)
        if path.size <= WEIGHTS:
            arrays[name] = path
    return arrays


def _thinned(arrays: dict[str, Array]) -> dict[str, Array]:
    """A few updates of many, with the last; positions beside them."""
    n = len(arrays["update"])
    if n <= SKETCHED:
        return arrays
    chosen = np.unique(np.linspace(0, n - 1, SKETCHED).astype(np.intp))
    positions = np.concatenate([[0], chosen + 1])
    return {name: array[chosen if len(array) == n else positions] for name, array in arrays.items()}
