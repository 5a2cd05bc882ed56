"""The rules: when an example makes a step, and what the step is.

A rule is a NamedTuple of its parameters with one formula, in plain arithmetic, which Python can run and the passes in
``core`` compile. The name of the formula says of which kind the rule is:

- ``tau(margin, sq_norm, weight)`` returns τ: the step is ``w += η·τ·y·x``.
- ``metric(margin, variance, weight)`` returns α and c: the rule keeps a covariance Σ of the weights beside their mean
  w, and the step is ``w += η·α·y·Σx``, ``Σ⁻¹ += c·xxᵀ``. It starts with Σ = I/a.
- ``scale(margin, sq_norm, sq_length, k, weight)`` returns s and τ: the step is ``w ← s·w + τ·y·x``.

The margin m is ``y·a(x)``; with several classes, the score of the right class minus that of the strongest wrong one.
``ℓ = max(0, 1 − m)`` is the hinge loss. ``sq_norm`` is ‖x‖², the squared length of the step's direction, including the
constant feature of the bias, and doubled for several classes. ``variance`` is v = xᵀΣx, summed over the two classes
that move. ``sq_length`` is ‖w‖², and k is the number of steps so far.

To add a rule, write its class with an ``@register`` line above it that describes each parameter; estimators, the
options of the command line, their help and model files follow from that. A rule of your own needs no registration:
pass it as an object.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from math import erfc, exp, inf, log, pi, sqrt
from typing import Any, NamedTuple, TypeVar

R = TypeVar("R")
RULES: dict[str, Any] = {}
# The arguments of formulas. Their names tell the kinds of rules.
ARGUMENTS = {
    "tau": "margin sq_norm weight",
    "metric": "margin variance weight",
    "scale": "margin sq_norm sq_length k weight",
}
CHOICES = {"covariance": ("diagonal", "full")}  # values of parameters that are not numbers
# The documentation of formulas: what they take, and a summary and the result for each kind.
TAKEN = {
    "margin": "m = y·a(x); with several classes, the score of the right class minus that of the strongest wrong one.",
    "sq_norm": "‖x‖², with the constant feature of the bias; doubled for several classes.",
    "variance": "v = xᵀΣx, with the constant feature of the bias; summed over the two classes that move.",
    "sq_length": "‖w‖² before the step.",
    "k": "Number of steps so far.",
    "weight": "Weight of the example.",
    "y": "+1 for an example of the second class, −1 for one of the first.",
}
GIVEN = {
    "tau": ("Compute τ of the step w += η·τ·y·x.", "float", "τ; 0 if there is no step."),
    "metric": (
        "Compute α and c of the step w += η·α·y·Σx, Σ⁻¹ += c·xxᵀ.",
        "tuple of 2 floats",
        "α and c; 0 and 0 if there is no step.",
    ),
    "scale": (
        "Compute s and τ of the step w ← s·w + τ·y·x.",
        "tuple of 2 floats",
        "s and τ; 1 and 0 if there is no step.",
    ),
}
CHECKED = """Check the parameters.

Raises
------
ValueError
    If a parameter is out of range.
"""
PARALLEL = 1e-12  # sin² of the angle between two vectors that count as parallel
CERTAIN = 1e-150  # a variance that is as good as 0: formulas divide by its square
COVARIANCE = "full: all covariances, for some thousand features; diagonal: one variance per weight"


def register(name: str, *, no_weights: str | None = None, **parameters: str) -> Callable[[type[R]], type[R]]:
    """Make a rule available by `name`, and unequal to other rules with equal parameters.

    no_weights: why it does not accept weights of examples, if so. parameters: a description of each of its parameters.
    """

    def enter(cls: type[R]) -> type[R]:
        members: dict[str, Any] = {
            "__eq__": lambda self, other: type(self) is type(other) and tuple.__eq__(self, other),
            "__ne__": lambda self, other: type(self) is not type(other) or tuple.__ne__(self, other),
            "__hash__": lambda self: hash((cls.__name__, *self)),
            "no_weights": no_weights,
            "parameters": parameters,
        }
        undescribed = set(cls._fields) ^ set(parameters)  # type: ignore[attr-defined]
        if undescribed:
            raise TypeError(f"@register({name!r}) must describe each parameter: see {', '.join(sorted(undescribed))}")
        for member, value in members.items():
            setattr(cls, member, value)
        RULES[name] = _documented(cls, parameters)
        return cls

    return enter


def _documented(cls: Any, parameters: dict[str, str]) -> Any:
    """Add to the docstrings of a rule: its parameters, before its examples; and what its formula takes and returns."""
    entries = [
        f"{name} : {_type_of(cls, name)}\n    {text[:1].upper()}{text[1:]}." for name, text in parameters.items()
    ]
    said = inspect.cleandoc(cls.__doc__ or "")
    if entries:
        found = re.search(r"^Examples\n", said, flags=re.MULTILINE)
        at = found.start() if found else len(said)
        cls.__doc__ = "\n\n".join(filter(None, [said[:at].rstrip(), _section("Parameters", entries), said[at:]]))
    for kind, (summary, kind_of_result, result) in GIVEN.items():
        formula = vars(cls).get(kind)
        if formula is not None and formula.__doc__ is None:
            names = formula.__code__.co_varnames[1 : formula.__code__.co_argcount]
            taken = _section("Parameters", [f"{name} : float\n    {TAKEN.get(name, name)}" for name in names])
            given = _section("Returns", [f"{kind_of_result}\n    {result}"])
            formula.__doc__ = f"{summary}\n\n{taken}\n\n{given}\n"
    if "check" in vars(cls) and cls.check.__doc__ is None:
        cls.check.__doc__ = CHECKED
    return cls


def _section(title: str, entries: list[str]) -> str:
    return "\n".join([title, "-" * len(title), *entries])


def _type_of(cls: Any, name: str) -> str:
    """The type of a parameter and its default, for its docstring."""
    default = cls._field_defaults.get(name)
    if name in CHOICES:
        return "{" + ", ".join(f'"{choice}"' for choice in CHOICES[name]) + f'}}, default="{default}"'
    return "float" if default is None else f"{type(default).__name__}, default={default}"


# -- along x ----------------------------------------------------------------------------------------------------------


@register("perceptron")
class Plain(NamedTuple):
    """The perceptron (Rosenblatt 1958): τ = 1 when m ≤ 0. A weight scales the step.

    Use it as ``rule="perceptron"``.

    Examples
    --------
    A mistake makes a step, and so does a tie. A row on the right side makes none.

    >>> from perceptrons.rules import Plain
    >>> rule = Plain()
    >>> rule.tau(margin=-3.0, sq_norm=2.0, weight=1.0), rule.tau(margin=0.0, sq_norm=2.0, weight=1.0)
    (1.0, 1.0)
    >>> rule.tau(margin=0.5, sq_norm=2.0, weight=1.0)
    0.0
    """

    target = 0.0  # type: ignore[misc]  # no field

    def tau(self, margin: float, sq_norm: float, weight: float) -> float:
        return weight if margin <= 0.0 else 0.0


@register("margin", beta="margin to reach")
class Margin(NamedTuple):
    """The perceptron with margin (Krauth & Mézard 1987): τ = 1 when m ≤ β. A weight scales the step.

    Use it as ``rule="margin"`` or ``rule=Margin(beta=5.0)``.

    Examples
    --------
    A row on the right side still makes a step if its margin is at most β:

    >>> from perceptrons.rules import Margin
    >>> Margin(beta=1.0).tau(margin=0.5, sq_norm=2.0, weight=1.0)
    1.0
    >>> Margin(beta=0.1).tau(margin=0.5, sq_norm=2.0, weight=1.0)
    0.0
    """

    beta: float = 1.0

    @property
    def target(self) -> float:
        """The margin above which a row makes no step: β."""
        return self.beta

    def tau(self, margin: float, sq_norm: float, weight: float) -> float:
        return weight if margin <= self.beta else 0.0

    def check(self) -> None:
        require(self.beta >= 0, "beta", ">= 0", self.beta)


@register("uneven", beta_positive="margin to reach for the second class", beta_negative="margin to reach for the first")
class Uneven(NamedTuple):
    """The perceptron with uneven margins (Li et al. 2002): τ = 1 when m ≤ β₊ for y = +1, m ≤ β₋ for y = −1.

    For two classes of very different sizes: give the rarer one the larger margin. A weight scales the step.
    Use it as ``rule="uneven"`` or ``rule=Uneven(beta_positive=3.0)``.

    Examples
    --------
    At the same margin, a row of the second class (y = +1) makes a step, and one of the first class does not:

    >>> from perceptrons.rules import Uneven
    >>> rule = Uneven(beta_positive=1.0, beta_negative=0.0)
    >>> rule.tau(margin=0.5, sq_norm=2.0, weight=1.0, y=1.0), rule.tau(margin=0.5, sq_norm=2.0, weight=1.0, y=-1.0)
    (1.0, 0.0)
    """

    beta_positive: float = 1.0
    beta_negative: float = 0.0

    def tau(self, margin: float, sq_norm: float, weight: float, y: float) -> float:
        return weight if margin <= (self.beta_positive if y > 0.0 else self.beta_negative) else 0.0

    def check(self) -> None:
        require(self.beta_positive >= 0, "beta_positive", ">= 0", self.beta_positive)
        require(self.beta_negative >= 0, "beta_negative", ">= 0", self.beta_negative)


@register("pa", no_weights="a scaled step would miss its target. Use the rule 'pa1' or 'pa2', where a weight scales C")
class PA(NamedTuple):
    """Passive-aggressive (Crammer et al. 2006, §3): τ = ℓ/‖x‖², the smallest change of w that brings ℓ to 0.

    It accepts no weights of examples: a scaled step would miss its target, and diverge if scaled by more than 2.
    Use it as ``rule="pa"``.

    Examples
    --------
    The step is as long as it takes to bring the margin to 1: −1 + 0.5·4 = 1.

    >>> from perceptrons.rules import PA
    >>> PA().tau(margin=-1.0, sq_norm=4.0, weight=1.0)
    0.5
    """

    def tau(self, margin: float, sq_norm: float, weight: float) -> float:
        loss = 1.0 - margin  # ℓ = max(0, 1 − m)
        if loss <= 0.0 or sq_norm == 0.0:
            return 0.0
        return loss / sq_norm


@register("pa1", C="aggressiveness, the largest step")
class PA1(NamedTuple):
    """PA-I (Crammer et al. 2006, §3): τ = min(C, ℓ/‖x‖²). A weight scales C.

    Use it as ``rule="pa1"`` or ``rule=PA1(C=0.1)``.

    Examples
    --------
    The step would have to be 0.5 to bring the margin to 1. A small C limits it:

    >>> from perceptrons.rules import PA1
    >>> PA1(C=1.0).tau(margin=-1.0, sq_norm=4.0, weight=1.0)
    0.5
    >>> PA1(C=0.1).tau(margin=-1.0, sq_norm=4.0, weight=1.0)
    0.1
    """

    C: float = 1.0

    def tau(self, margin: float, sq_norm: float, weight: float) -> float:
        loss = 1.0 - margin  # ℓ = max(0, 1 − m)
        if loss <= 0.0 or sq_norm == 0.0:
            return 0.0
        return min(self.C * weight, loss / sq_norm)

    def check(self) -> None:
        require(self.C > 0, "C", "> 0", self.C)


@register("pa2", C="aggressiveness, how soft the limit of a step is")
class PA2(NamedTuple):
    """PA-II (Crammer et al. 2006, §3): τ = ℓ/(‖x‖² + 1/(2C)). A weight scales C.

    Use it as ``rule="pa2"`` or ``rule=PA2(C=0.1)``.

    Examples
    --------
    The step would have to be 0.5 to bring the margin to 1. A small C makes it shorter:

    >>> from perceptrons.rules import PA2
    >>> PA2(C=0.125).tau(margin=-1.0, sq_norm=4.0, weight=1.0)
    0.25
    """

    C: float = 1.0

    def tau(self, margin: float, sq_norm: float, weight: float) -> float:
        loss = 1.0 - margin  # ℓ = max(0, 1 − m)
        if loss <= 0.0 or sq_norm == 0.0 or weight == 0.0:
            return 0.0
        return loss / (sq_norm + 0.5 / (self.C * weight))

    def check(self) -> None:
        require(self.C > 0, "C", "> 0", self.C)


# -- with a metric ----------------------------------------------------------------------------------------------------
# `target` is the margin above which a rule makes no step, so that v need not be computed.


@register("arow", r="smoothness: larger r, smaller steps", covariance=COVARIANCE)
class AROW(NamedTuple):
    """AROW, adaptive regularisation of weights (Crammer et al. 2009): α = (1 − m)/(v + r), c = 1/r when m < 1.

    Noisy labels do little harm: variances shrink, but no step has to reach the margin 1. A weight divides r.
    Use it as ``rule="arow"`` or ``rule=AROW(r=10.0)``.

    Examples
    --------
    α is 2/(1 + 1), or 2/(1 + 4) with a larger r; c is 1/r:

    >>> from perceptrons.rules import AROW
    >>> AROW(r=1.0).metric(margin=-1.0, variance=1.0, weight=1.0)
    (1.0, 1.0)
    >>> AROW(r=4.0).metric(margin=-1.0, variance=1.0, weight=1.0)
    (0.4, 0.25)
    """

    target = 1.0  # type: ignore[misc]  # no field

    r: float = 1.0
    covariance: str = "diagonal"

    def metric(self, margin: float, variance: float, weight: float) -> tuple[float, float]:
        if margin >= 1.0:
            return 0.0, 0.0
        r = self.r / weight
        return (1.0 - margin) / (variance + r), 1.0 / r

    def check(self) -> None:
        require(0 < self.r < inf, "r", "> 0 and finite", self.r)


@register(
    "cw",
    no_weights="each step reaches its confidence exactly. Use the rule 'scw1' or 'scw2', where a weight scales C",
    eta="confidence with which each example is to be right, above 0.5",
    covariance=COVARIANCE,
)
class CW(NamedTuple):
    """Confidence-weighted learning (Crammer et al. 2008): the least change after which P(m > 0) ≥ η.

    φ = Φ⁻¹(η), ψ = 1 + φ²/2, ζ = 1 + φ². When m < φ√v: α = max(0, (−mψ + √(m²φ⁴/4 + vφ²ζ))/(vζ)) and c = αφ/√u with
    √u = ½(−αvφ + √(α²v²φ² + 4v)).

    A mistake on a row whose v is small shrinks v to about v². If rows contradict each other, the variances soon vanish,
    and nothing more can be learned: on noisy data, SCW is better. It accepts no weights of examples.
    Use it as ``rule="cw"`` or ``rule=CW(eta=0.9)``.

    Examples
    --------
    A right row of margin 0.5 makes no step if that is confident enough (φ√v = 0.25), and a step if not (φ√v = 1.28):

    >>> from perceptrons.rules import CW
    >>> CW(eta=0.6).metric(margin=0.5, variance=1.0, weight=1.0)
    (0.0, 0.0)
    >>> [round(value, 3) for value in CW(eta=0.9).metric(margin=0.5, variance=1.0, weight=1.0)]
    [0.459, 0.786]
    """

    eta: float = 0.55
    covariance: str = "diagonal"

    def metric(self, margin: float, variance: float, weight: float) -> tuple[float, float]:
        phi = quantile(self.eta)
        alpha = confident(phi, margin, variance)
        return alpha, precision(phi, alpha, variance)

    def check(self) -> None:
        require(0.5 < self.eta < 1, "eta", "above 0.5 and below 1", self.eta)


@register(
    "scw1",
    C="aggressiveness, the largest step",
    eta="confidence with which each example is to be right, above 0.5",
    covariance=COVARIANCE,
)
class SCW1(NamedTuple):
    """SCW-I, soft confidence-weighted learning (Wang et al. 2012): CW with α = min(C, α of CW). A weight scales C.

    Use it as ``rule="scw1"`` or ``rule=SCW1(C=0.1, eta=0.9)``.

    Examples
    --------
    CW would make a step of α = 1.537. C limits it:

    >>> from perceptrons.rules import CW, SCW1
    >>> [round(value, 3) for value in CW(eta=0.9).metric(margin=-1.0, variance=1.0, weight=1.0)]
    [1.537, 4.703]
    >>> [round(value, 3) for value in SCW1(C=1.0, eta=0.9).metric(margin=-1.0, variance=1.0, weight=1.0)]
    [1.0, 2.343]
    """

    C: float = 0.3
    eta: float = 0.6
    covariance: str = "diagonal"

    def metric(self, margin: float, variance: float, weight: float) -> tuple[float, float]:
        phi = quantile(self.eta)
        alpha = min(self.C * weight, confident(phi, margin, variance))
        return alpha, precision(phi, alpha, variance)

    def check(self) -> None:
        require(self.C > 0, "C", "> 0", self.C)
        require(0.5 < self.eta < 1, "eta", "above 0.5 and below 1", self.eta)


@register(
    "scw2",
    C="aggressiveness, how soft the limit of a step is",
    eta="confidence with which each example is to be right, above 0.5",
    covariance=COVARIANCE,
)
class SCW2(NamedTuple):
    """SCW-II (Wang et al. 2012): as CW, with another α. A weight scales C.

    When m < φ√v: α = max(0, (−(2mn + φ²mv) + φ√(φ²m²v² + 4nv(n + vφ²)))/(2(n² + nvφ²))), n = v + 1/(2C).
    Use it as ``rule="scw2"`` or ``rule=SCW2(C=0.1, eta=0.9)``.

    Examples
    --------
    CW would make a step of α = 1.537. C makes it shorter:

    >>> from perceptrons.rules import SCW2
    >>> [round(value, 3) for value in SCW2(C=1.0, eta=0.9).metric(margin=-1.0, variance=1.0, weight=1.0)]
    [1.108, 2.749]
    """

    C: float = 0.3
    eta: float = 0.6
    covariance: str = "diagonal"

    def metric(self, margin: float, variance: float, weight: float) -> tuple[float, float]:
        phi = quantile(self.eta)
        if variance < CERTAIN or margin >= phi * sqrt(variance):
            return 0.0, 0.0
        n = variance + 0.5 / (self.C * weight)
        part = variance / n  # v/n: the formula divided by n, so that no square overflows
        shift, wide = margin * part * phi, 1.0 + part * phi * phi
        root = phi * sqrt(shift * shift + 4.0 * variance * wide)
        alpha = max(0.0, (root - 2.0 * margin - phi * shift) / (2.0 * n * wide))
        return alpha, precision(phi, alpha, variance)

    def check(self) -> None:
        require(self.C > 0, "C", "> 0", self.C)
        require(0.5 < self.eta < 1, "eta", "above 0.5 and below 1", self.eta)


@register("nherd", C="aggressiveness: larger C, larger steps and faster shrinking variances", covariance=COVARIANCE)
class NHERD(NamedTuple):
    """Normal herd (Crammer & Lee 2010): α = (1 − m)/(v + 1/C), c = 2C + C²v when m < 1. A weight scales C.

    Use it as ``rule="nherd"`` or ``rule=NHERD(C=0.1)``.

    Examples
    --------
    The step is that of AROW with r = 1/C, but the variance shrinks faster: AROW's c is 1 here.

    >>> from perceptrons.rules import NHERD
    >>> NHERD(C=1.0).metric(margin=-1.0, variance=1.0, weight=1.0)
    (1.0, 3.0)
    """

    target = 1.0  # type: ignore[misc]  # no field

    C: float = 1.0
    covariance: str = "diagonal"

    def metric(self, margin: float, variance: float, weight: float) -> tuple[float, float]:
        if margin >= 1.0:
            return 0.0, 0.0
        C = self.C * weight
        return (1.0 - margin) / (variance + 1.0 / C), 2.0 * C + C * C * variance

    def check(self) -> None:
        require(0 < self.C < inf, "C", "> 0 and finite", self.C)


@register("sop", a="precision of each weight at the start", covariance=COVARIANCE)
class SOP(NamedTuple):
    """The second-order perceptron (Cesa-Bianchi et al. 2005): α = (1 − m)/(1 + v), c = 1 when m ≤ 0.

    In terms of θ = Σ⁻¹w, which is the perceptron's own weight vector: θ += y·x and Σ⁻¹ += xxᵀ on a mistake. An example
    of weight k counts as k copies: θ += k·y·x and Σ⁻¹ += k·xxᵀ. Use it as ``rule="sop"`` or ``rule=SOP(a=10.0)``.

    Examples
    --------
    As the perceptron, it makes a step on a mistake only. The larger the variance, the shorter the step:

    >>> from perceptrons.rules import SOP
    >>> SOP().metric(margin=0.5, variance=1.0, weight=1.0)
    (0.0, 0.0)
    >>> SOP().metric(margin=-1.0, variance=1.0, weight=1.0), SOP().metric(margin=-1.0, variance=3.0, weight=1.0)
    ((1.0, 1.0), (0.5, 1.0))
    """

    target = 0.0  # type: ignore[misc]  # no field

    a: float = 1.0
    covariance: str = "diagonal"

    def metric(self, margin: float, variance: float, weight: float) -> tuple[float, float]:
        if margin > 0.0:
            return 0.0, 0.0
        return weight * (1.0 - margin) / (1.0 + weight * variance), weight

    def check(self) -> None:
        require(0 < self.a < inf, "a", "> 0 and finite", self.a)


def confident(phi: float, margin: float, variance: float) -> float:
    """α of CW; 0 if the example is right with the confidence already, or if no uncertainty is left to move w by."""
    if variance < CERTAIN or margin >= phi * sqrt(variance):
        return 0.0
    psi, zeta = 1.0 + 0.5 * phi * phi, 1.0 + phi * phi
    half = 0.5 * margin * phi * phi  # its square is m²φ⁴/4
    return max(0.0, (sqrt(half * half + variance * phi * phi * zeta) - margin * psi) / (variance * zeta))


def precision(phi: float, alpha: float, variance: float) -> float:
    """c of CW and SCW for a step of length α: αφ/√u.

    1/√u = (αvφ + √(α²v²φ² + 4v))/(2v) is a sum; √u is a difference, which is 0 in floats if v is small beside (αv)².
    """
    if alpha == 0.0:
        return 0.0
    shift = alpha * variance * phi
    return alpha * phi * (shift + sqrt(shift * shift + 4.0 * variance)) / (2.0 * variance)


def quantile(p: float) -> float:
    """Φ⁻¹(p) for 0.5 ≤ p < 1: the number below which a normal variable lies with probability p.

    Acklam's rational approximation, whose relative error is below 1.2e-9, and one step of Halley's method from there.
    """
    if p <= 0.97575:
        q = p - 0.5
        r = q * q
        above = (((-39.69683028665376 * r + 220.9460984245205) * r - 275.9285104469687) * r + 138.3577518672690) * r
        above = (above - 30.66479806614716) * r + 2.506628277459239
        below = (((-54.47609879822406 * r + 161.5858368580409) * r - 155.6989798598866) * r + 66.80131188771972) * r
        x = above * q / ((below - 13.28068155288572) * r + 1.0)
    else:
        q = sqrt(-2.0 * log(1.0 - p))
        above = (((-7.784894002430293e-3 * q - 0.3223964580411365) * q - 2.400758277161838) * q - 2.549732539343734) * q
        below = (((7.784695709041462e-3 * q + 0.3224671290700398) * q + 2.445134137142996) * q + 3.754408661907416) * q
        x = -((above + 4.374664141464968) * q + 2.938163982698783) / (below + 1.0)
    beyond = 0.5 * erfc(x / sqrt(2.0))  # 1 − Φ(x)
    off = ((1.0 - p) - beyond) * sqrt(2.0 * pi) * exp(0.5 * x * x)  # (Φ(x) − p)/Φ′(x)
    return x - off / (1.0 + 0.5 * x * off)


# -- with a scale -----------------------------------------------------------------------------------------------------


@register(
    "romma",
    no_weights="each step reaches its target exactly. Use the rule 'pa1' or 'pa2', where a weight scales C",
    aggressive="also step when the margin is below 1",
)
class ROMMA(NamedTuple):
    """ROMMA, the relaxed online maximum margin algorithm (Li & Long 2002).

    When m ≤ 0, or m < 1 if aggressive, w becomes the shortest vector that gives this example the margin 1 and has
    ``w·w_old ≥ ‖w_old‖²``, a condition that stands for all earlier examples: s = (‖x‖²‖w‖² − m)/(‖x‖²‖w‖² − m²) and
    τ = ‖w‖²(1 − m)/(‖x‖²‖w‖² − m²). There are three exceptions, where s = 0 and τ = 1/‖x‖²: the first step, an example
    that alone asks for a longer w, and an x that is parallel to w, for which no such vector exists.

    It accepts no weights of examples. Use it as ``rule="romma"`` or ``rule=ROMMA(aggressive=True)``.

    Examples
    --------
    The first step makes the margin 1: 0.5·‖x‖² = 1. A later one scales w and adds x; 3·(−1) + 2·2 = 1.

    >>> from perceptrons.rules import ROMMA
    >>> ROMMA().scale(margin=0.0, sq_norm=2.0, sq_length=0.0, k=0.0, weight=1.0)
    (0.0, 0.5)
    >>> ROMMA().scale(margin=-1.0, sq_norm=2.0, sq_length=1.0, k=1.0, weight=1.0)
    (3.0, 2.0)
    """

    aggressive: bool = False

    def scale(self, margin: float, sq_norm: float, sq_length: float, k: float, weight: float) -> tuple[float, float]:
        if margin >= 1.0 or (margin > 0.0 and not self.aggressive) or sq_norm == 0.0:
            return 1.0, 0.0
        both = sq_norm * sq_length
        apart = both - margin * margin
        if margin >= both or (margin <= 0.0 and apart <= PARALLEL * both):
            return 0.0, 1.0 / sq_norm
        if apart <= PARALLEL * both:
            return 1.0, 0.0  # x is parallel to w, and m is 1 but for rounding
        return (both - margin) / apart, sq_length * (1.0 - margin) / apart


@register(
    "alma",
    no_weights="the length of its steps follows from their number. Use the rule 'margin' or 'arow'",
    alpha="share of the largest margin to give up, at most 1",
)
class ALMA(NamedTuple):
    """ALMA for p = 2 (Gentile 2001): on separable rows, it approximates the largest margin γ by (1 − α)·γ.

    x̂ is the row at length 1. When y·w·x̂ ≤ (1 − α)·B/√k: w += C/√k·y·x̂, then w is divided by max(1, ‖w‖), and k += 1;
    B = √8/α, C = √2. So τ = s·C/(√k·‖x‖) with s = 1/max(1, ‖w + …‖). k is 1 at first.

    It accepts no weights of examples. Use it as ``rule="alma"`` or ``rule=ALMA(alpha=0.5)``.

    Examples
    --------
    The first step has the length √2, so w is scaled to the length 1. The eighth step is shorter, √2/√8 = 0.5:

    >>> from perceptrons.rules import ALMA
    >>> [round(value, 3) for value in ALMA().scale(margin=0.0, sq_norm=1.0, sq_length=0.0, k=0.0, weight=1.0)]
    [0.707, 1.0]
    >>> [round(value, 3) for value in ALMA().scale(margin=0.0, sq_norm=1.0, sq_length=0.5, k=7.0, weight=1.0)]
    [1.0, 0.5]
    """

    alpha: float = 0.9

    def scale(self, margin: float, sq_norm: float, sq_length: float, k: float, weight: float) -> tuple[float, float]:
        length, root = sqrt(sq_norm), sqrt(k + 1.0)
        if sq_norm == 0.0 or margin * root > (1.0 - self.alpha) * sqrt(8.0) / self.alpha * length:
            return 1.0, 0.0
        step = sqrt(2.0) / (root * length)
        moved = sqrt(max(0.0, sq_length + 2.0 * step * margin + step * step * sq_norm))  # ‖w + step·y·x‖
        shrink = 1.0 / max(1.0, moved)
        return shrink, shrink * step

    def check(self) -> None:
        require(0 < self.alpha <= 1, "alpha", "> 0 and <= 1", self.alpha)


@register(
    "shifting",
    no_weights="its steps are shares of w. Use the rule 'perceptron', where a weight scales the step",
    lam="how fast old examples fade: above 1, recent ones count more than old ones",
)
class Shifting(NamedTuple):
    """The shifting perceptron (Cavallanti et al. 2007), for concepts that move: old examples fade.

    When m ≤ 0: s = 1 − λ_k, τ = λ_k with λ_k = λ/(λ + k). With λ = 1 it makes the predictions of the perceptron. With a
    larger λ, recent steps count more than old ones; with a smaller λ, they count less.

    It accepts no weights of examples. Use it as ``rule="shifting"`` or ``rule=Shifting(lam=5.0)``.

    Examples
    --------
    The third mistake takes half of the weights (2/(2 + 2)), the seventh a quarter:

    >>> from perceptrons.rules import Shifting
    >>> Shifting(lam=2.0).scale(margin=-1.0, sq_norm=2.0, sq_length=1.0, k=2.0, weight=1.0)
    (0.5, 0.5)
    >>> Shifting(lam=2.0).scale(margin=-1.0, sq_norm=2.0, sq_length=1.0, k=6.0, weight=1.0)
    (0.75, 0.25)
    """

    lam: float = 2.0

    def scale(self, margin: float, sq_norm: float, sq_length: float, k: float, weight: float) -> tuple[float, float]:
        if margin > 0.0 or sq_norm == 0.0:
            return 1.0, 0.0
        share = self.lam / (self.lam + k)
        return 1.0 - share, share

    def check(self) -> None:
        require(0 < self.lam < inf, "lam", "> 0 and finite", self.lam)


# -- using rules ------------------------------------------------------------------------------------------------------


def require(holds: bool, name: str, expected: str, got: object) -> None:
    """Raise an error if a parameter is out of range (NaN always is)."""
    if not holds:
        raise ValueError(f"{name} must be {expected}, got {got}")


def kind_of(rule: object) -> str:
    """The kind of a rule: the name of its formula.

    >>> kind_of(PA()), kind_of(AROW()), kind_of(ROMMA)
    ('tau', 'metric', 'scale')
    """
    cls = rule if isinstance(rule, type) else type(rule)
    return next((kind for kind in ARGUMENTS if callable(getattr(cls, kind, None))), "")  # not a parameter of that name


def resolve(rule: Any) -> Any:
    """Get the rule for a name or an object, with checked parameters: floats, booleans or text, as their defaults are.

    >>> resolve("pa1")
    PA1(C=1.0)
    >>> resolve(PA1(C=-1))
    Traceback (most recent call last):
    ValueError: C must be > 0, got -1.0
    >>> resolve(AROW(covariance="half"))
    Traceback (most recent call last):
    ValueError: covariance must be 'diagonal' or 'full', got 'half'
    """
    if isinstance(rule, str):
        if rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))} or a rule object, got {rule!r}")
        rule = RULES[rule]()
    if isinstance(rule, type) or not (hasattr(rule, "_fields") and kind_of(rule)):
        raise TypeError(
            f"rule must be a name or a NamedTuple with a method tau, metric or scale, such as PA1(C=0.1), got {rule!r}"
        )
    resolved: Any = type(rule)(*(_parameter(rule, name) for name in rule._fields))
    if hasattr(resolved, "check"):
        resolved.check()
    if type(rule) not in RULES.values():
        _try(resolved)
    return resolved


def _try(rule: Any) -> None:
    """Call the formula of a user's rule once; raise an error that says what is wrong with it."""
    kind, name = kind_of(rule), type(rule).__name__
    given = [*ARGUMENTS[kind].split(), *(["y"] if takes_label(rule) else [])]
    try:
        answer = getattr(rule, kind)(0.0, *[1.0] * (len(given) - 1))
    except ArithmeticError:  # compiled code returns infinity or NaN instead
        return
    except Exception as error:
        raise TypeError(f"the formula {kind} of {name}, which gets {', '.join(given)}, fails: {error}") from error
    numbers = (answer,) if kind == "tau" else answer
    if not (isinstance(numbers, tuple) and len(numbers) == 2 - (kind == "tau") and all(map(_is_number, numbers))):
        expected = {"tau": "one number, τ", "metric": "two numbers, α and c", "scale": "two numbers, s and τ"}[kind]
        raise TypeError(f"the formula {kind} of {name} must return {expected}, got {answer!r}")


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _parameter(rule: Any, name: str) -> Any:
    """One parameter with its proper type."""
    value, choices = getattr(rule, name), CHOICES.get(name)
    if choices is not None:
        require(value in choices, name, " or ".join(map(repr, choices)), repr(value))
        return str(value)
    if isinstance(rule._field_defaults.get(name), bool):
        require(value in (False, True), name, "True or False", repr(value))
        return bool(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {value!r}") from None


def compiled(rule: Any) -> Any:
    """The rule as compiled code gets it: text, which only says what to keep, is replaced by 0."""
    return rule._replace(**{name: 0.0 for name in rule._fields if name in CHOICES})


def takes_weights(rule: object) -> bool:
    """Whether this rule accepts weights of examples."""
    return getattr(rule, "no_weights", None) is None


def takes_label(rule: Any) -> bool:
    """Whether τ depends on the class: the formula has a fourth argument, y = ±1."""
    return kind_of(rule) == "tau" and rule.tau.__code__.co_argcount > 4


def along_rows(*, even: bool = False) -> list[str]:
    """The names of the rules whose steps are along x; with `even`, without those whose τ depends on the class."""
    return [name for name, rule in RULES.items() if kind_of(rule) == "tau" and not (even and takes_label(rule))]


def refuse_other_kinds(rule: Any, where: str, why: str, *, even: bool = True) -> None:
    """Raise an error for a rule whose steps are not along x.

    where, why: what it does not combine with, and the reason. even: whether rules whose τ depends on the class do not
    combine with it either.
    """
    if kind_of(rule) != "tau":
        names = ", ".join(map(repr, along_rows(even=even)))
        raise ValueError(f"the rule {type(rule).__name__} does not combine with {where}: {why}. Use one of {names}")


def refuse_label(rule: Any, where: str) -> None:
    """Raise an error for a rule that needs to know which of two classes is positive."""
    if takes_label(rule):
        names = ", ".join(map(repr, along_rows(even=True)))
        raise ValueError(
            f"the rule {type(rule).__name__} does not combine with {where}: it has a margin for each of two classes. "
            f"Use one of {names}"
        )


def demands(rule: object) -> float:
    """The margin that a rule requires: its `target`, or 1. For structures, per unit of loss.

    >>> demands(Plain()), demands(Margin(beta=0.5)), demands(PA())
    (0.0, 0.5, 1.0)
    """
    return float(getattr(rule, "target", 1.0))
