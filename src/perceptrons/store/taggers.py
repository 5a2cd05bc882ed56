"""Taggers as settings and arrays of a model file. Needs no scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from perceptrons import __version__
from perceptrons.data.token.vocabulary import from_state
from perceptrons.learn.readouts import OVER_STRUCTURES, READOUTS
from perceptrons.learn.sequence.iob1 import IOB1, beginnings, closed
from perceptrons.learn.sequence.learner import WEIGHTS, SequenceLearner, links_of, n_links, padded
from perceptrons.learn.sequence.schemes import SCHEMES
from perceptrons.learn.sequence.tagger import BEAM_UPDATES, Plan, Tagger
from perceptrons.learn.sequence.weights import WIDEST
from perceptrons.store.classes import pack_classes, unpack_classes
from perceptrons.store.facts import REPORT, TRAINED, unpack_facts
from perceptrons.store.format import Array, Tensors
from perceptrons.store.learners import pack_totals, unpack_totals
from perceptrons.store.memory import Memory
from perceptrons.store.values import LARGEST, Settings, check_range, from_json, pack, rule_from, take, to_json, unpack

NARROW = [np.dtype(kind) for kind in ("i1", "i2", "i4", "f4", "f8")]  # types that weights are stored in
LISTS = {"mistakes": np.int64, "token_mistakes": np.int64, "validation_errors": np.float64}  # of a report, by pass


class Reading(NamedTuple):
    """How tokens were read from files, so that other files can be read in the same way."""

    columns: list[str]  # in the order of a line; for CoNLL-U, those that were read
    target: str  # the column with the labels
    names: dict[str, str]  # names of columns in templates, if different
    conllu: bool
    tabs: bool  # whether only tabs separate columns, so that they may contain spaces


@dataclass
class SavedTagger:
    """A tagger in the form that is saved. `read` returns it for the file of a `SequenceTagger`.

    Parameters
    ----------
    params : dict
        The parameters of the SequenceTagger by name. A rule is its name, or a dict such as
        ``{"rule": "pa1", "C": 0.1}``, and features are text.
    tagger : Tagger
        The trained tagger, with its labels, features and weights.
    report : dict, optional
        Facts about the last fit: converged, mistakes, token_mistakes, validation_errors, and n_tokens, the number of
        tokens in a pass.
    reading : Reading, optional
        How tokens were read from files: columns, target, names, conllu and tabs. None if they were not.
    trained : dict, optional
        Any other facts about the training, ready for JSON.

    Examples
    --------
    >>> import os, tempfile
    >>> from perceptrons import SequenceTagger, save
    >>> from perceptrons.store import read
    >>> model = SequenceTagger(features="pos").fit([["the", "cat"]], [["DET", "NOUN"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "pos.perceptron"))
    ...     saved = read(os.path.join(folder, "pos.perceptron"))
    >>> saved.estimator, saved.params["features"], saved.tagger.labels
    ('SequenceTagger', 'pos', ['DET', 'NOUN'])
    """

    estimator: ClassVar[str] = "SequenceTagger"
    params: dict[str, Any]
    tagger: Tagger
    report: dict[str, Any] = field(default_factory=dict)
    reading: Reading | None = None
    trained: dict[str, Any] = field(default_factory=dict)


# -- packing ----------------------------------------------------------------------------------------------------------


def packed(saved: SavedTagger, drop_zeros: bool) -> tuple[dict[str, Any], Tensors]:
    """Convert a tagger to settings and arrays."""
    tagger = saved.tagger
    learner, plan = tagger.learner, tagger.plan
    if learner is None or not learner.labels:
        raise ValueError("the tagger has seen no labels: fit it before saving")
    params = {name: to_json(value, name) for name, value in saved.params.items()}
    _check_rule(params)
    labels, tensors = pack_classes(_array_of(learner.labels))
    vocabulary, arrays = _pack_weights(tagger, drop_zeros)
    meta, lists, others = vocabulary.state()
    for number, texts in enumerate(lists.values()):
        tensors |= pack(texts, f"vocabulary.{number}")
    report = {**saved.report}
    tensors |= {f"report.{name}": np.array(report.pop(name, ()), dtype=kind) for name, kind in LISTS.items()}
    tensors |= arrays | {f"vocabulary.{name}": array for name, array in others.items()}
    settings: dict[str, Any] = {
        "perceptrons": __version__,
        "estimator": saved.estimator,
        "params": params,
        "labels": {"number": len(learner.labels), **labels},
        "plan": {name: to_json(value, name) for name, value in plan._asdict().items()},
        "scheme": learner.scheme,
        "touching": sorted(learner.touching),
        "candidates": list(tagger.candidates),
        "counts": pack_totals(learner.totals),
        "vocabulary": {"state": meta, "lists": list(lists), "arrays": list(others)},
        "report": {name: to_json(value, name) for name, value in report.items()},
        "trained": {name: to_json(value, name) for name, value in saved.trained.items()},
    }
    if saved.reading is not None:
        settings["reading"] = saved.reading._asdict()
    return settings, tensors


def _check_rule(params: dict[str, Any]) -> None:
    """Refuse a rule whose formula is not in this package."""
    if "rule" in params:
        rule_from(from_json(params["rule"]))


def _array_of(labels: list[Any]) -> Array:
    """Convert labels to an array for `pack_classes`."""
    if all(isinstance(label, str) for label in labels):
        return np.array([str(label) for label in labels], dtype=object)
    array = np.array(labels)
    if array.ndim != 1 or array.dtype.kind not in "biuf" or array.tolist() != labels:
        raise ValueError(f"labels such as {labels[0]!r} cannot be saved: use strings or numbers")
    return array


def _pack_weights(tagger: Tagger, drop_zeros: bool) -> tuple[Any, Tensors]:
    """The vocabulary, and the weights that are not zero with their positions.

    Lines are the rows of weights without padding: first histories, then features in the order of their rows. `rows` has
    for each feature 1 + its line among the lines of features, or 0 if it has none. drop_zeros leaves out features
    without weights; nothing is lost, because unknown features have no weight either.
    """
    learner, vocabulary = tagger.fitted, tagger.vocabulary
    used, width, size = learner.used, learner.width, len(learner.labels)
    at, label, values = learner.entries(np.arange(used))
    rows = learner.state["rows"][: vocabulary.n_features]
    if drop_zeros:
        filled = np.zeros(used, dtype=bool)
        filled[at] = True
        mask = (rows != 0) & filled[rows]
        vocabulary, rows = vocabulary.subset(mask), rows[mask]
    histories = 1 + links_of(learner.markov, width, np.arange(size))
    lines = np.full(used, -1)
    lines[histories] = np.arange(len(histories))
    features = np.sort(rows[rows != 0])
    lines[features] = len(histories) + np.arange(len(features))
    there = lines[at] >= 0
    positions = lines[at[there]] * size + label[there]  # increasing, because lines are in the order of rows
    wide = (len(histories) + len(features)) * size > 2**32
    return vocabulary, {
        "rows": np.where(rows != 0, lines[rows] - len(histories) + 1, 0).astype(np.uint32),
        "index": positions.astype(np.uint64 if wide else np.uint32),
        **{name: narrow(given[there]) for name, given in zip(WEIGHTS, values, strict=False)},
    }


def narrow(values: Array) -> Array:
    """Convert numbers to the narrowest type that holds them exactly; many rules make only whole numbers.

    >>> narrow(np.array([1.0, -3.0])).dtype, narrow(np.array([0.1])).dtype
    (dtype('int8'), dtype('float64'))
    """
    for kind in NARROW:
        with np.errstate(invalid="ignore", over="ignore"):
            cast = values.astype(kind)
        if np.array_equal(cast, values):
            return cast
    return values  # NaN; writing refuses it


# -- unpacking --------------------------------------------------------------------------------------------------------


def unpacked(found: dict[str, Any], tensors: Tensors, memory: Memory) -> SavedTagger:
    """Restore a tagger from `packed`; everything is checked before it is used."""
    settings = Settings(found)
    settings.choice("estimator", [SavedTagger.estimator])
    params = settings.any("params")
    if not isinstance(params, dict):
        raise ValueError("params must be an object")
    _check_rule(params)
    if params.get("columns") is not None:
        texts_of(Settings(params), "columns")
    labels = settings.part("labels")
    labels.choice("kind", ("objects", "numbers"))
    names = unpack_classes(labels, tensors, labels.whole("number", 1, 2**31 - 1), memory).tolist()
    tagger = Tagger(_vocabulary(settings.part("vocabulary"), tensors), _plan(settings.part("plan")))
    memory.take(_size(tagger, len(names), params, tensors))
    tagger.candidates = tuple(_schemes(settings.any("candidates")))
    tagger.learner = _learner(tagger, names, settings, tensors)
    tagger.learner.constrain(*_constraint(settings, names))
    _check_weights(tagger.learner)
    saved = SavedTagger(params, tagger)
    saved.report = unpack_facts(settings, "report", REPORT)
    for name, kind in LISTS.items():
        saved.report[name] = take(tensors, f"report.{name}", np.dtype(kind).str, (None,)).tolist()
    saved.trained = unpack_facts(settings, "trained", TRAINED)
    if "reading" in found:
        saved.reading = _reading(settings.part("reading"))
    if tensors:
        raise ValueError(f"it has unexpected arrays: {', '.join(sorted(tensors))}"[:200])
    return saved


def _vocabulary(settings: Settings, tensors: Tensors) -> Any:
    named = {name: texts_of(settings, name) for name in ("lists", "arrays")}
    lists = {name: unpack(tensors, f"vocabulary.{number}") for number, name in enumerate(named["lists"])}
    arrays = {}
    for name in named["arrays"]:
        if f"vocabulary.{name}" not in tensors:
            raise ValueError(f"the array 'vocabulary.{name}' is missing"[:200])
        arrays[name] = tensors.pop(f"vocabulary.{name}")
    return from_state(settings.part("state").found, lists, arrays)


def _plan(settings: Settings) -> Plan:
    """Restore the plan of learning and search."""
    scheme, beam = settings.any("scheme"), settings.any("beam")
    eta = settings.number("eta", high=LARGEST)
    if eta == 0.0:
        raise ValueError("eta must be > 0")
    return Plan(
        rule=rule_from(settings.any("rule")),
        readout=settings.choice("readout", OVER_STRUCTURES),
        order=settings.whole("order", 0, 2),
        scheme=scheme if scheme in (None, "auto") else _schemes([scheme])[0],
        beam=beam if beam is None else settings.whole("beam", 1, 2**31 - 1),
        update=settings.choice("update", BEAM_UPDATES),
        k_best=settings.whole("k_best", 1, 2**31 - 1),
        eta=eta,
    ).check()


def _schemes(found: Any) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(each, str) and each in SCHEMES for each in found):
        raise ValueError(f"schemes must be among {', '.join(SCHEMES)}, got {found!r}"[:200])
    return found


def _size(tagger: Tagger, n_labels: int, params: dict[str, Any], tensors: Tensors) -> int:
    """The bytes that a tagger takes besides its arrays in the file: weights, links and readout, and room to search."""
    plan, width = tagger.plan, padded(n_labels)
    links: int = n_links(plan.order, width)
    states: int = width ** max(1, plan.order)
    n_features: int = tagger.vocabulary.n_features
    used = links + (int(np.count_nonzero(tensors["rows"])) if "rows" in tensors else 0)
    weights = (used + n_features) * (1 + READOUTS[plan.readout].sums) + used + 2 * links
    given = params.get("k_best", 1)  # learning goes on with the estimator's parameters
    k = max(plan.k_best, given if type(given) is int else 1)
    groups = min(plan.beam, states) if plan.beam is not None and plan.order == 2 else 0
    lists = 500 * k * k + 24 * k * states if k > 1 else 0  # differences of k labellings of one token, at least
    pages = width // 2 * (used + n_features) if width > WIDEST else 0
    return 8 * width * (weights + groups) + pages + lists


def _constraint(settings: Settings, labels: list[Any]) -> tuple[str | None, tuple[str, ...]]:
    """Restore the scheme of labels, and for IOB1 the labels B-X that may be predicted."""
    given = settings.any("scheme")
    scheme = given if given is None else _schemes([given])[0]
    touching = texts_of(settings, "touching") if "touching" in settings.found else []  # files of older versions lack it
    if scheme == IOB1 and not (all(isinstance(label, str) for label in labels) and closed(labels) == labels):
        raise ValueError("labels in IOB1 must have B and I for each type")
    if not set(beginnings(labels)) >= set(touching) or (touching and scheme != IOB1):
        raise ValueError(f"touching must have labels of IOB1 with the prefix B, got {touching!r}"[:200])
    return scheme, tuple(touching)


def _learner(tagger: Tagger, labels: list[Any], settings: Settings, tensors: Tensors) -> SequenceLearner:
    """Restore the learner, and check rows and positions, which compiled code trusts."""
    plan, averaged = tagger.plan, READOUTS[tagger.plan.readout].sums
    rows = take(tensors, "rows", "u4", (tagger.vocabulary.n_features,)).copy()
    features = int(np.count_nonzero(rows))
    if rows.max(initial=0) != features or (np.bincount(rows, minlength=1)[1:] != 1).any():
        raise ValueError(f"rows must have each number from 1 to {features} once, and otherwise zeros")
    size, width = len(labels), padded(len(labels))
    first = 1 + n_links(plan.order, width)
    used, height = first + features, n_links(plan.order, size) + features
    wide = "index" in tensors and tensors["index"].dtype == np.uint64
    index = take(tensors, "index", "u8" if wide else "u4", (None,))
    check_range("index", index, height * size)
    if (index[1:] <= index[:-1]).any():
        raise ValueError("index must increase")
    line, label = (each.astype(np.intp) for each in np.divmod(index, index.dtype.type(size)))
    places = np.concatenate([1 + links_of(plan.order, width, np.arange(size)), np.arange(first, used)])
    values = np.stack([_floats(tensors, name, len(index)) for name in WEIGHTS[: 1 + averaged]])
    rows[rows != 0] += np.uint32(first - 1)
    learner = SequenceLearner(labels, 0, plan.order, plan.readout)
    state = learner.with_entries((used + len(rows), width), places[line], label, values).with_arrays(rows=rows)
    unpack_totals(settings, state.totals)
    state.course.used_rows = used
    learner.state = state
    tagger.adopt(learner)
    return learner


def _check_weights(learner: SequenceLearner) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(learner.reading()[0]).all():
            raise ValueError("its weights exceed the range of floats")


def _floats(tensors: Tensors, name: str, length: int) -> Array:
    """Read numbers of any type that `narrow` returns."""
    kind = tensors[name].dtype if name in tensors else NARROW[-1]
    return take(tensors, name, kind.str if kind in NARROW else "f8", (length,)).astype(np.float64)


def _reading(settings: Settings) -> Reading:
    target, names = settings.any("target"), settings.any("names")
    if not isinstance(names, dict) or not all(isinstance(text, str) for text in [target, *names, *names.values()]):
        raise ValueError("names of columns must be text")
    columns = texts_of(settings, "columns")
    if target not in columns:
        raise ValueError(f"the column of labels {target!r} is not among {', '.join(columns)}"[:200])
    return Reading(columns, target, names, settings.flag("conllu"), settings.flag("tabs"))


def texts_of(settings: Settings, name: str) -> list[str]:
    """Read a list of text from settings."""
    texts = settings.any(name)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name} must be a list of text, got {texts!r}"[:200])
    return texts
