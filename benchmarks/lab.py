"""The lab in a real browser: how soon it is there, how it follows the hand, and whether it tells the truth.

    python benchmarks/lab.py [SCENES]

Needs Chromium and Playwright (`pip install playwright`). SCENES is the number of random scenes that are compared with
the library (default 200). With axe-core (`npm install --prefix .venv/axe axe-core`), its rules are run, too.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "lab"))

import pages  # noqa: E402

from perceptrons import KernelPerceptron, Perceptron  # noqa: E402
from perceptrons.rules import RULES  # noqa: E402
from perceptrons.theory import mistake_bound, separability  # noqa: E402

STARTS, DRAGS, SCRUBS = 5, 5, 200
DRAG = """async () => {
  const svg = document.getElementById("svg-A"), plane = lab.planes[0];
  const box = svg.getBoundingClientRect();
  const at = ([x, y]) => {
    const place = { clientX: box.left + plane.view.x(x), clientY: box.top + plane.view.y(y) };
    return { ...place, pointerId: 1, button: 0, bubbles: true };
  };
  svg.setPointerCapture = () => {};
  const [x, y] = lab.scene.rows[7];
  svg.dispatchEvent(new PointerEvent("pointerdown", at([x, y])));
  const begun = performance.now(), before = lab.answers;
  let frames = 0;
  while (performance.now() - begun < 3000) {
    const angle = (performance.now() - begun) / 400;
    svg.dispatchEvent(new PointerEvent("pointermove", at([x + 0.3 * Math.cos(angle), y + 0.3 * Math.sin(angle)])));
    await new Promise((done) => requestAnimationFrame(done));
    frames += 1;
  }
  const seconds = (performance.now() - begun) / 1000, answers = lab.answers - before;
  svg.dispatchEvent(new PointerEvent("pointerup", at([x, y])));
  return [answers / seconds, frames / seconds];
}"""
SCRUB = """async (positions) => {
  const times = [];
  for (const k of positions) {
    const begun = performance.now();
    scrub.value = k;
    scrub.dispatchEvent(new Event("input"));
    await new Promise((done) =>
      requestAnimationFrame(() => {  // the message comes after the frame has been laid out and painted
        const channel = new MessageChannel();
        channel.port1.onmessage = done;
        channel.port2.postMessage(0);
      }),
    );
    times.push(performance.now() - begun);
  }
  return times;
}"""


def start(browser) -> None:
    """From the command to a page that answers."""
    times = []
    for _ in range(STARTS + 1):  # the first one may compile
        context = browser.new_context(bypass_csp=True)
        page = context.new_page()
        begun = time.perf_counter()
        with pages.server() as (_, address):
            page.goto(address)
            page.wait_for_function("document.body.dataset.answers >= 1", timeout=120_000, polling=10)
            times.append(time.perf_counter() - begun)
            context.close()
    print(f"command to a page that answers: {np.median(times[1:]):.2f} s (median of {STARTS}; first {times[0]:.2f} s)")


def scene(n: int, gap: float, seed: int = 0) -> dict[str, object]:
    """Two clouds of n points, with a gap between them or overlapping."""
    generator = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    X = generator.normal(size=(n, 2))
    X[:, 0] = np.where(labels == 1, 1, -1) * (np.abs(X[:, 0]) + gap / 2)
    return {"rows": X.round(3).tolist(), "labels": labels.tolist(), "classes": [-1, 1]}


def drag(page) -> None:
    """Drag one of 300 points; count answers that were drawn with verdict, fit and proof."""
    for what, gap in (("separable", 0.2), ("not separable", -0.6)):
        pages.staged(page, scene(300, gap))
        rates = []
        for _ in range(DRAGS):
            rate, frames = page.evaluate(DRAG)
            pages.settled(page)
            rates.append((rate, frames))
        rate, frames = np.median(rates, axis=0)
        print(f"dragging one of 300 points, {what}: {rate:.0f} updates a second ({frames:.0f} frames a second)")


def scrub(page) -> None:
    """Scrub over 100,000 recorded updates: every visit of the margin rule is one."""
    rows = np.random.default_rng(1).normal(size=(100, 2)).round(2).tolist()
    labels = (np.random.default_rng(2).random(100) < 0.5).astype(int).tolist()
    choice = {"rule": "margin", "params": {"beta": 1e9}, "max_iter": 1000, "tol": None}
    pages.staged(page, {"rows": rows, "labels": labels, "classes": [-1, 1], "models": [choice]})
    n = page.evaluate("lab.run.end")
    positions = np.random.default_rng(0).integers(0, n, SCRUBS).tolist()
    times = page.evaluate(SCRUB, positions)
    print(f"scrubbing over {n:,} updates: {np.median(times):.0f} ms to the drawn frame, at most {max(times):.0f} ms")


def choices(generator) -> dict[str, object]:
    """A random model."""
    pick = lambda values: values[generator.integers(len(values))]  # noqa: E731
    choice = {"fit_intercept": bool(generator.random() < 0.7), "order": pick(["given", "shuffled", "sorted"])}
    choice |= {"random_state": int(generator.integers(1000)), "max_iter": int(generator.integers(1, 60))}
    if generator.random() < 0.25:
        choice |= {"estimator": "KernelPerceptron", "kernel": pick(["rbf", "poly", "linear"])}
        return choice | {"rule": pick(["perceptron", "pa1"]), "readout": pick(["last", "averaged", "pocket"])}
    rule = "perceptron" if generator.random() < 0.4 else pick([name for name in RULES if name != "uneven"])
    return choice | {"rule": rule, "readout": pick(["last", "averaged", "pocket"])}


def estimator(choice):
    """The model of the library for these choices."""
    given = {name: value for name, value in choice.items() if name not in ("estimator", "order")}
    given["shuffle"] = choice["order"] == "shuffled"
    if choice.get("estimator") == "KernelPerceptron":
        return KernelPerceptron(**given, gamma=1.0, degree=2, coef0=1.0)
    return Perceptron(**given)


def compare(page, number: int) -> None:
    """What the page shows against the library on the same points: weights, counts, bounds, verdicts."""
    unequal = []
    for seed in range(number):
        generator = np.random.default_rng(seed)
        n, classes = int(generator.integers(4, 60)), 3 if generator.random() < 0.2 else 2
        grid = generator.random() < 0.3
        X = generator.integers(-3, 4, (n, 2)) if grid else generator.normal(size=(n, 2)).round(3)
        codes = generator.integers(0, classes, n)
        codes[:classes] = np.arange(classes)
        X = X + 2.0 * generator.random() * codes[:, None] * [1, 0.5]
        labels = [-1, 1] if classes == 2 else [0, 1, 2]
        choice = choices(generator)
        pages.staged(page, {"rows": X.tolist(), "labels": codes.tolist(), "classes": labels, "models": [choice]})
        y = np.array(labels)[codes]
        unequal += [(seed, what) for what in differences(page, X, y, choice)]
    print(f"page against library in {number} random scenes: {len(unequal)} differences {unequal[:5] or ''}")


def differences(page, X, y, choice) -> list[str]:
    """The names of the facts that differ."""
    order = np.argsort(y, kind="stable") if choice["order"] == "sorted" else np.arange(len(y))
    model = estimator(choice).fit(X[order], y[order])
    facts = {"passes": model.n_iter_, "mistakes": model.n_mistakes_, "updates": model.n_updates_}
    facts |= {"seen": model.n_seen_, "converged": model.converged_, "training": 1 - model.score(X[order], y[order])}
    if choice.get("estimator") == "KernelPerceptron":
        facts["support"] = len(model.support_)
    else:
        facts |= {"coef": model.coef_.tolist(), "intercept": model.intercept_.tolist()}
    wrong = [name for name, value in facts.items() if pages.told(page, f"{name}-A") != value]
    for bias, name in ((True, "bias"), (False, "origin")):
        found = separability(X, y, fit_intercept=bias)
        shown = [page.get_attribute(f"#verdict-{name}", f"data-{what}") for what in ("separable", "margin")]
        margin = "null" if found.margin is None else found.margin
        if shown[0] != str(found.separable).lower() or (margin if margin == "null" else float(shown[1])) != margin:
            wrong.append(f"verdict {name}")
    if choice.get("estimator") != "KernelPerceptron":
        try:
            bound = mistake_bound(X[order], y[order], rule=choice["rule"], fit_intercept=choice["fit_intercept"]).bound
        except ValueError:
            bound = None
        if pages.told(page, "bound-text") != bound:
            wrong.append("bound")
    return wrong


def weight(page, address: str) -> None:
    """The size of the page, its requests, and what axe-core finds."""
    size = sum(path.stat().st_size for path in (ROOT / "src/perceptrons/lab/page").rglob("*"))
    host = address.split("/")[2]
    others = [url for url in page.asked if not url.startswith("data:") and url.split("/")[2] != host]
    print(f"page: {size / 1000:.0f} kB in all, {len(others)} requests to other places")
    rules = pages.axe()
    if rules is None:
        print("axe-core is not installed: npm install --prefix .venv/axe axe-core")
    else:
        print(f"axe-core: {len(pages.violations(page, rules))} violations")


def main() -> None:
    why = pages.missing()
    if why is not None:
        raise SystemExit(why)
    warnings.simplefilter("ignore")
    with pages.browser() as browser:
        start(browser)
        with pages.server() as (_, address):
            page = pages.opened(browser, address)
            drag(page)
            scrub(page)
            compare(page, int(sys.argv[1]) if len(sys.argv) > 1 else 200)
            weight(page, address)
            if page.faults:
                print("faults of the page:", page.faults)


if __name__ == "__main__":
    main()
