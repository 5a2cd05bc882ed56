"""Certificates in files: JSON in which every number is exact.

Rationals are text such as "3/4", with long parts in hexadecimal; floats are read back to the last bit. Reading trusts
nothing in a file: it checks types and lengths, and `Separability.check` verifies the proof for the rows.
"""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np

from perceptrons import __version__
from perceptrons.data.atomic import replaced
from perceptrons.theory import Separability
from perceptrons.theory.certificate import Certificate

FORMAT, VERSION = "perceptrons certificate", 1
MOST = 2**53  # rows and features
PART = "(?:0x[0-9a-f]+|[0-9]{1,18})"
RATIONAL = re.compile(f"(-?{PART})/({PART})")
INFINITE = {"inf": math.inf, "-inf": -math.inf}


class CertificateFileError(ValueError):
    """Raised if a file is not a certificate, or is damaged."""


# -- writing --------------------------------------------------------------------------------------------------------


def write(verdict: Separability, path: str, about: dict[str, Any]) -> None:
    """Save the proof of a verdict and what it is about; the file is replaced only when complete."""
    content: dict[str, Any] = {
        **{"format": FORMAT, "version": VERSION, "perceptrons": __version__, **about},
        "separable": verdict.separable,
        "fit_intercept": verdict.fit_intercept,
        "classes": verdict.classes.tolist(),
        "n_rows": verdict.n_rows,
        "n_features": verdict.n_features,
        "radius": _number(verdict.radius),
        "support": verdict.support.tolist(),
        "rivals": verdict.rivals.tolist(),
        "weights": [_number(weight) for weight in verdict.weights],
    }
    if verdict.separable:
        content["margin_bounds"] = _numbers(verdict.margin_bounds)
        content["augmented_margin"] = _number(verdict.augmented_margin)
    if verdict.certificate is not None:
        content["coef"] = _lines(verdict.coef)
        content["intercept"] = _numbers(np.atleast_1d(verdict.intercept))
        content["augmented_coef"] = _lines(verdict.augmented_separator)
        content["separator"] = [_numbers(line) for line in verdict.certificate.separator]
        content["augmented_separator"] = [_numbers(line) for line in verdict.certificate.augmented]
    if verdict.point is not None:
        content["point"] = _numbers(verdict.point)
    if verdict.irreducible is not None:
        content["irreducible"] = verdict.irreducible.tolist()
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(part, allow_nan=False)}" for name, part in content.items())
    with replaced(path) as file:
        file.write(f"{{\n{lines}\n}}\n".encode())


def _number(value: Any) -> float | str:
    """An exact number for JSON.

    >>> _number(0.1), _number(Fraction(3, 4)), _number(Fraction(1, 2**70))
    (0.1, '3/4', '1/0x400000000000000000')
    """
    if isinstance(value, Fraction | int):
        value = Fraction(value)
        return "/".join(str(part) if abs(part) < 10**18 else hex(part) for part in (value.numerator, value.denominator))
    return float(value) if math.isfinite(value) else repr(float(value))


def _lines(vectors: Any) -> list[list[float | str]]:
    return [_numbers(line) for line in np.atleast_2d(vectors)]


def _numbers(values: Any) -> list[float | str]:
    return [_number(value) for value in (values.tolist() if isinstance(values, np.ndarray) else values)]


# -- reading --------------------------------------------------------------------------------------------------------


def read(path: str) -> tuple[Separability, dict[str, Any]]:
    """Read a saved verdict, not yet checked, and what it is about."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        found = json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise CertificateFileError(f"{path} is not a certificate, or is damaged: it is not JSON ({error})") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise CertificateFileError(f"{path} is not a certificate written by `perceptrons certify --save`")
    if found.get("version") != VERSION:
        raise CertificateFileError(
            f"{path} has version {found.get('version')!r} of the certificate format, expected {VERSION}"
        )
    try:
        columns = found.get("columns")
        if columns is not None:
            columns = [_whole(column, "columns", MOST) for column in _list(columns)]
        return _verdict(found), {"options": dict(found.get("options", {})), "columns": columns}
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise CertificateFileError(f"{path} is damaged: {missing}"[:300]) from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def _verdict(found: dict[str, Any]) -> Separability:
    """The saved verdict, with types and lengths checked."""
    n_rows, n_features = (_whole(found[name], name, MOST) for name in ("n_rows", "n_features"))
    separable, fit_intercept = _flag(found["separable"]), _flag(found["fit_intercept"])
    classes = _labels(found["classes"], "classes")
    if len(set(classes.tolist())) < len(classes) or not (classes[1:] > classes[:-1]).all():
        raise ValueError("classes must be sorted and distinct")
    facts: dict[str, Any] = {
        "support": np.array([_whole(row, "support", n_rows) for row in _list(found["support"])], dtype=np.intp),
        "rivals": _labels(found["rivals"], "rivals") if found["rivals"] != [] else np.empty(0),
        "weights": [Fraction(_exact(weight)) for weight in _list(found["weights"])],
    }
    if separable:
        low, high = (_float(bound) for bound in _list(found["margin_bounds"], 2))
        facts |= {"margin": low, "margin_bounds": (low, high), "augmented_margin": _float(found["augmented_margin"])}
    if separable and len(classes) > 1:
        blocks = 1 if len(classes) == 2 else len(classes)
        coef = _table(found["coef"], blocks, n_features, _float)
        intercept = [_float(value) for value in _list(found["intercept"], blocks)]
        both = _table(found["augmented_coef"], blocks, n_features + fit_intercept, _float)
        facts |= {"coef": np.array(coef), "intercept": np.array(intercept), "augmented_separator": np.array(both)}
        lines = (_table(found[name], blocks, n_features + 1, _exact) for name in ("separator", "augmented_separator"))
        facts["certificate"] = Certificate(*lines)
    if not separable and len(classes) == 2:
        facts["point"] = np.array([_float(value) for value in _list(found["point"], n_features)])
    if "irreducible" in found:
        rows = [_whole(row, "irreducible", n_rows) for row in _list(found["irreducible"])]
        facts["irreducible"] = np.array(rows, dtype=np.intp)
    elif not separable and len(classes) == 2:
        raise KeyError("irreducible")
    return Separability(
        separable, fit_intercept, None, classes, n_rows, n_features, _float(found["radius"]), "a saved proof", **facts
    )


def _whole(value: Any, name: str, below: int) -> int:
    if type(value) is not int or not 0 <= value < below:
        raise ValueError(f"{name} must be whole numbers from 0 to {below - 1}, got {value!r}")
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"expected true or false, got {value!r}")
    return value


def _list(value: Any, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise ValueError(f"expected a list{'' if length is None else f' of {length}'}, got {value!r:.60}")
    return value


def _labels(value: Any, name: str) -> Any:
    """Check that labels have one type."""
    kinds = {type(label) for label in _list(value)}
    if len(kinds) != 1 or kinds - {int, float, bool, str}:
        raise ValueError(f"{name} must be all numbers or all text, got {value!r:.60}")
    return np.array(value)


def _exact(value: Any) -> float | Fraction:
    """A finite float, or a rational."""
    if type(value) is float and math.isfinite(value):
        return value
    match = RATIONAL.fullmatch(value) if isinstance(value, str) else None
    if match is None or int(match[2], 0) == 0:
        raise ValueError(f"{value!r:.60} is not an exact number")
    return Fraction(int(match[1], 0), int(match[2], 0))


def _float(value: Any) -> float:
    """A float, which may be infinite."""
    if isinstance(value, str) and value in INFINITE:
        return INFINITE[value]
    if type(value) is not float or not math.isfinite(value):
        raise ValueError(f"{value!r:.60} is not a float")
    return value


def _table(value: Any, lines: int, columns: int, kind: Any) -> list[list[Any]]:
    return [[kind(entry) for entry in _list(line, columns)] for line in _list(value, lines)]
