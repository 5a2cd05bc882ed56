"""What requests to one model do: predict, learn, label, explain."""

from __future__ import annotations

import random
import time
from typing import Any

from msgspec import UNSET, DecodeError, Raw, ValidationError
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError

from perceptrons.serve.errors import Refused
from perceptrons.serve.messages import (
    Example,
    Examples,
    Explain,
    Explained,
    Labelled,
    Learned,
    ManyPredicted,
    ManyPredictedLearned,
    Predicted,
    PredictedLearned,
    RawRecord,
    Term,
    encode,
    read_example,
    read_raw,
)
from perceptrons.serve.model.bulk import PART, body_parts, check_scores, learn_parts, parts_of, predict_parts
from perceptrons.serve.model.commits import Accepted
from perceptrons.serve.model.large import learn_body
from perceptrons.serve.model.learning import given_x, is_wrong, learn_single
from perceptrons.serve.model.served import Served, counts
from perceptrons.serve.web.http import JSON, Call, Reply, decoded
from perceptrons.serve.web.tokens import SCOPES

KINDS = {
    b"application/x-ndjson": "ndjson",
    b"application/jsonl": "ndjson",
    b"text/x-svmlight": "svmlight",
    b"text/csv": "csv",
}
SMALL = 1 << 14  # bytes of a body that is read in the event loop
FEW = 100  # examples of one request that are learned in the event loop
ID = 255  # the most characters of an id


def kind_of(call: Call) -> str | None:
    """The format of a body; None for JSON."""
    found = call.content_type
    if found == JSON:
        return None
    if found not in KINDS:
        raise Refused(
            415, f"the body must be one of {', '.join(k.decode() for k in (JSON, *KINDS))}, got {found[:80]!r}"
        )
    return KINDS[found]


def read_json(body: bytes) -> Example | list[Example]:
    """One example, or several."""
    try:
        return read_example(body)
    except ValidationError as error:
        if b'"examples"' not in body:
            raise Refused(422, str(error)) from None
        many: Examples = decoded(Examples, body)
        return many.examples
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(400, f"the body is not JSON: {error}") from None


async def _read(served: Served, body: bytes) -> Example | list[Example]:
    """One example, or several; a thread reads large bodies, so that other requests are answered meanwhile."""
    found: Example | list[Example] = await served.read(read_json, body) if len(body) > SMALL else read_json(body)
    return found


def settings_of(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    """What a format needs to know, for the log."""
    names = {"svmlight": ("zero_based",), "csv": ("target",)}.get(kind, ())
    wrong = [name for name in ("target", "zero_based") if name in options and name not in names]
    if wrong:
        raise Refused(400, f"{wrong[0]} is not for bodies of this type")
    return {name: options[name] for name in names if name in options}


# -- learning -------------------------------------------------------------------------------------------------


async def learn(served: Served, call: Call, *, tells: bool = False) -> Reply:
    """Learn from one example or many.

    tells: whether to answer what was predicted before.
    """
    body = await call.body()
    kind, key = kind_of(call), call.key(body)
    options = call.options(target=str, zero_based=bool) if call.scope["query_string"] else {}
    if kind is not None:
        return Reply(await learn_body(served, kind, settings_of(kind, options), body, key, tells=tells))
    settings_of("json", options)
    found = await _read(served, body)
    if type(found) is list:
        if len(found) > FEW or served.slow:
            return Reply(await learn_body(served, "examples", {}, body, key, tells=tells))
        return Reply(await served.accept(key, lambda: _learn_few(served, found, body, tells)))
    if found.y is UNSET:  # type: ignore[union-attr]
        raise Refused(422, "the example has no label: send y, or use predict")
    return Reply(await served.accept(key, lambda: (_predict_learn if tells else learned)(served, found, body)))


def learned(served: Served, example: Any, body: bytes) -> Accepted:
    """Learn from one example."""
    model, y = served.model, example.y
    with served.refusing():
        x = given_x(example.x)
        served.room.check(model, x, y)
        wrong = learn_single(model, x, y, served.create.classes)
    served.room.add(model, y)
    return Accepted(body, bytes((wrong,)), Learned(0, 1, wrong))


def _predict_learn(served: Served, example: Any, body: bytes) -> Accepted:
    with served.refusing():
        given = served.model.predict_one(given_x(example.x))
    learned(served, example, body)
    return _told(served, read_raw(body).x, example.y, given, example.id)


def _told(served: Served, x: Raw, y: Any, given: Any, id: Any, labelled: str | None = None) -> Accepted:
    """An example that was learned after the client was told a prediction."""
    wrong = is_wrong(served.model, given, y)
    line = encode(RawRecord(x, y, id, given))
    return Accepted(line, bytes((wrong,)), PredictedLearned(given, bool(wrong), 0), labelled)


def _learn_few(served: Served, examples: list[Example], body: bytes, tells: bool) -> Accepted:
    """Learn from some examples, all or none: they are one part."""
    assert len(examples) <= PART
    before = counts(served.model)[1]
    with served.refusing():
        parts = parts_of(examples)
        served.room.check_parts(served.model, parts)
        bits, guesses = learn_parts(served.model, parts, served.create.classes)
    for example in examples:
        served.room.add(served.model, example.y)
    if tells:
        return Accepted(body, bits.tobytes(), ManyPredictedLearned(guesses, int(bits.sum()), 0))
    return Accepted(body, bits.tobytes(), Learned(0, len(bits), counts(served.model)[1] - before))


async def predict_learn(served: Served, call: Call) -> Reply:
    """Predict, then learn; answers what was predicted before."""
    return await learn(served, call, tells=True)


async def label(served: Served, call: Call) -> Reply:
    """Learn from an earlier prediction, now that its label is known."""
    body = await call.body()
    told: Labelled = await call.read(Labelled, body)

    def act() -> Accepted:
        waiting = served.pending.find(told.id)
        learned(served, Example(decoded(Any, waiting.x), told.y), b"")
        del served.pending.waiting[told.id]
        return _told(served, Raw(waiting.x), told.y, waiting.given, told.id, told.id)

    return Reply(await served.accept(call.key(body), act))


# -- predicting -----------------------------------------------------------------------------------------------


async def predict(served: Served, call: Call) -> Reply:
    """Predict. An example with an id waits for its label."""
    body = await call.body()
    kind = kind_of(call)
    options = (
        NONE
        if not call.scope["query_string"]
        else call.options(ask=bool, b=float, scores=bool, target=str, zero_based=bool)
    )
    if served.model is None:
        served.check_open()
    if kind is not None:
        return Reply(encode(ManyPredicted(await served.read(_predict_body, served, kind, body, options))))
    if served.slow or len(body) > SMALL:
        found, answer = await served.read(_predict_json, served, body, options)
    else:
        found, answer = _predict_json(served, body, options)
    if type(answer) is Predicted and found.id is not UNSET:
        if call.allowed < SCOPES.index("learn"):
            raise Refused(
                403, "a prediction with an id is kept for its label: that needs a token with the scope 'learn'"
            )
        await _keep(served, found, bytes(read_raw(body).x), answer)
    return Reply(encode(answer))


def _predict_json(served: Served, body: bytes, options: dict[str, Any]) -> tuple[Any, Predicted | ManyPredicted]:
    """Predict one example, or several; returns what was asked, too."""
    found = read_json(body)
    try:
        if type(found) is list:
            return found, _predict_many(served, found, options)
        return found, _predict(served, found, options)
    except (ValueError, TypeError) as error:
        raise Refused(422, str(error)) from None


NONE: dict[str, Any] = {}


def predicted(served: Served, example: Any) -> bytes:
    """Predict one example, without options."""
    try:
        return encode(_predict(served, example, NONE))
    except (ValueError, TypeError) as error:
        raise Refused(422, str(error)) from None


def _predict(served: Served, example: Any, options: dict[str, Any]) -> Predicted:
    x = given_x(example.x)
    answer = Predicted(served.model.predict_one(x))
    if options.get("ask") or options.get("scores"):
        score = served.model.score_one(x)
        if options.get("scores"):
            answer.score = score
        if options.get("ask"):
            answer.ask_probability = ask_probability(served.model, score, options.get("b", 1.0))
            answer.ask = random.random() < answer.ask_probability
    return answer


def ask_probability(model: Any, score: Any, b: float) -> float:
    """How often to ask for the label of an example with this score: b/(b + |score|).

    Selective sampling (Cesa-Bianchi, Gentile & Zaniboni 2006, §3). With more than two classes, |score| is the
    difference between the two largest.
    """
    if not isinstance(model, ClassifierMixin):
        raise Refused(
            422, "ask is for classifiers: in regression, the size of a prediction does not say how sure it is"
        )
    if not 0.0 < b < float("inf"):
        raise Refused(400, f"b must be > 0, got {b}")
    if isinstance(score, dict):
        best = sorted(score.values())[-2:]
        score = best[-1] - best[0]
    return b / (b + abs(float(score)))


async def _keep(served: Served, example: Any, x: bytes, answer: Predicted) -> None:
    """Keep a prediction until its label comes. It is in the log before the client is told.

    The same id and x again, as after a lost answer, get the first prediction again.
    """
    if not 0 < len(example.id) <= ID:
        raise Refused(422, f"an id must have 1 to {ID} characters")
    if example.y is not UNSET:
        raise Refused(422, "an example with an id waits for its label: leave out y, or use predict-learn")
    served.check_queue()
    served.queue += 1
    try:
        await served.enter()
        waiting = served.pending.waiting.get(example.id)
        batch = served.batch()  # also if it waits already: the first answer may not be in the log yet
        if waiting is not None and waiting.x == x and waiting.until > time.monotonic():
            answer.prediction = waiting.given
        else:
            batch.group.pending.append(served.pending.add(example.id, x, answer.prediction))
        await served.durably(batch)
    finally:
        served.queue -= 1


def _predict_many(served: Served, examples: list[Example], options: dict[str, Any]) -> ManyPredicted:
    if options.get("ask"):
        raise Refused(400, "ask is for single examples")
    if any(example.id is not UNSET for example in examples):
        raise Refused(422, "an id is for single examples: predict these one by one, or leave out the ids")
    if options.get("scores"):
        check_scores(served.model, len(examples))
    found = ManyPredicted(predict_parts(served.model, parts_of(examples, labelled=False)))
    if options.get("scores"):
        found.scores = [served.model.score_one(given_x(example.x)) for example in examples]
    return found


def _predict_body(served: Served, kind: str, body: bytes, options: dict[str, Any]) -> list[Any]:
    if options.get("ask") or options.get("scores"):
        raise Refused(400, "ask and scores are for JSON")
    try:
        settings = settings_of(kind, options)
        return predict_parts(served.model, body_parts(served.model, kind, body, settings, labelled=False))
    except (ValueError, TypeError) as error:
        raise Refused(422, str(error)) from None


async def explain(served: Served, call: Call) -> Reply:
    """List what each feature contributes to the score of an example."""
    if call.content_type != JSON:
        raise Refused(415, "this route takes application/json")
    body = await call.body()
    if served.model is None:
        served.check_open()
    return Reply(await served.read(_explain, served, body) if len(body) > SMALL else _explain(served, body))


def _explain(served: Served, body: bytes) -> bytes:
    asked: Explain = decoded(Explain, body)
    if not hasattr(served.model, "explain_one"):
        raise Refused(
            422, f"{type(served.model).__name__} has no weights of features: its predictions are not explained"
        )
    try:
        told = served.model.explain_one(given_x(asked.x), label=asked.label)
    except NotFittedError:
        raise Refused(409, "nothing has been learned yet: there is nothing to explain") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise Refused(422, str(error)) from None
    terms = [Term(*each) for each in told]
    return encode(Explained(told.score, told.intercept, told.label, told.against, told.unknown, terms))
