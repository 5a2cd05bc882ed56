// What is proved: verdicts with and without a bias, the bound on mistakes, and the two lines of the convergence proof.

import { Chart } from "./chart.js";
import { $, count, counted, draw, make, number, say, show, vector } from "./words.js";

const charts = {};

export function begin() {
  charts.progress = new Chart(
    $("chart-progress"),
    "Progress of w along the best separator, and its lower bound k times gamma",
  );
  charts.length = new Chart($("chart-length"), "Squared length of w, and its upper bound k times R squared");
  charts.cosine = new Chart(
    $("chart-cosine"),
    "Cosine of the angle between w and the best separator, and its lower bound",
  );
  charts.errors = new Chart($("chart-errors"), "Errors after each pass");
}

// -- verdicts ---------------------------------------------------------------------------------------------------

/** One verdict in words. */
function verdictText(verdict, fitIntercept) {
  const where = fitIntercept ? "with a bias" : "through the origin";
  if (verdict.separable === null) return { title: `Undecided ${where}`, text: verdict.reason, kind: "unknown" };
  if (verdict.separable) {
    const rows = verdict.support.length
      ? ` The ${verdict.support.length === 1 ? "point" : "points"} ${verdict.support.join(", ")} determine${verdict.support.length === 1 ? "s" : ""} it.`
      : "";
    return {
      title: `Separable ${where}`,
      text: `The largest margin is about ${number(verdict.margin)}.${rows}`,
      kind: "yes",
    };
  }
  const few = verdict.irreducible;
  const rows = !few
    ? verdict.reason
    : few.length === 1
      ? `Point ${few[0]} is the origin: a line through the origin gives it the score 0.`
      : `Points ${few.join(", ")} alone cannot be separated; any ${few.length - 1} of them can.`;
  const point = verdict.point && fitIntercept ? ` The hulls of the classes meet at ${vector(verdict.point)}.` : "";
  return { title: `Not separable ${where}`, text: rows + point, kind: "no" };
}

/** How the verdict is proved. */
function proofText({ separable, support }) {
  if (separable === null) return "";
  const points = counted(support.length, "point");
  if (separable)
    return "Proof: a line with this margin, and, in exact arithmetic, weights on the points that allow no larger one.";
  return `Proof: weights on ${points} that combine them to 0 exactly; then no line can have all of them right.`;
}

/** Draw the verdicts side by side. */
export function drawVerdicts(app) {
  const cards = (app.shown?.verdicts ?? []).map((verdict) => {
    const { title, text, kind } = verdictText(verdict, verdict.fit_intercept);
    const chosen = verdict === app.verdict() && !app.run?.kernel;
    const id = verdict.fit_intercept ? "verdict-bias" : "verdict-origin";
    const values = { "data-separable": String(verdict.separable), "data-margin": JSON.stringify(verdict.margin) };
    return make(
      "div",
      { class: `verdict ${kind}${chosen ? " chosen" : ""}`, id, ...values },
      make("h3", {}, sign(kind), title),
      make("p", {}, text),
      make("p", { class: "soft" }, proofText(verdict)),
    );
  });
  const run = app.run;
  if (run?.kernel && run.verdict) {
    const { separable, reason, margin } = run.verdict;
    const words = separable === null ? "Undecided" : separable ? "Separable" : "Not separable";
    const kind = separable === null ? "unknown" : separable ? "yes" : "no";
    const text = separable ? `The largest margin there is about ${number(margin)}.` : reason;
    cards.push(
      make(
        "div",
        { class: `verdict chosen ${kind}`, id: "verdict-kernel" },
        make("h3", {}, sign(kind), `${words} in the kernel's feature space`),
        make("p", {}, text),
      ),
    );
  }
  const held = app.held.size
    ? make("p", { class: "soft" }, `${counted(app.held.size, "held-out point")} not counted.`)
    : null;
  show($("verdicts"), ...cards, held);
}

function sign(kind) {
  const shapes = { yes: "M2 7l4 4 7-9", no: "M3 3l9 9M12 3l-9 9", unknown: "M4 5a3.5 3 0 1 1 4 3v2M8 12.5v.5" };
  return draw("svg", { class: "sign", viewBox: "0 0 15 15", "aria-hidden": "true" }, draw("path", { d: shapes[kind] }));
}

// -- the bound --------------------------------------------------------------------------------------------------

/** Mistakes made, beside the bound. */
export function drawBound(run) {
  const box = $("bound");
  const bound = run?.bound;
  if (!bound) {
    show(box);
    return;
  }
  if (bound.bound === undefined) {
    show(box, make("p", { class: "soft" }, bound.reason));
    return;
  }
  const most = bound.bound === "inf" ? Infinity : Math.floor(bound.bound);
  const share = most > 0 ? Math.min(1, bound.made / most) : 0;
  const passes = bound.any_passes ? "in any number of passes" : "in the first pass";
  show(
    box,
    make(
      "p",
      { id: "bound-text", "data-value": JSON.stringify(bound.bound), "data-made": bound.made },
      make("b", {}, `${count(bound.made)} ${bound.counted} made`),
      `; the theorem allows ${most === Infinity ? "any number" : count(most)} ${passes}.`,
    ),
    make("div", { class: "bar", "aria-hidden": "true" }, meter(share)),
    make(
      "p",
      { class: "soft" },
      bound.text
        .split("\n")
        .slice(1)
        .map((text) => text.trim())
        .join(" · "),
    ),
  );
}

function meter(share) {
  const fill = make("div", {});
  fill.style.width = `${Math.max(0.5, 100 * share)}%`;
  return fill;
}

// -- the two lines ----------------------------------------------------------------------------------------------

/** Draw the curves of the proof; `moveProof` moves along them. */
export function drawProof(app) {
  const { run } = app;
  const proof = run?.proof;
  $("proof-charts").hidden = !proof;
  if (!proof) {
    say($("proof-now"), app.whole ? "" : "The proof is drawn when you let go of the point.");
    say($("proof-reason"), "");
    return;
  }
  const { gamma, growth } = proof;
  const n = run.length;
  const ends = [0, run.n_updates];
  const line = (slope, kind) =>
    slope === null || slope === undefined ? { length: 0 } : { x: ends, y: ends.map((k) => k * slope), length: 2, kind };
  const measured = (y) => ({ x: run.update, y, length: y ? n : 0, kind: "measured" });
  charts.progress.draw({
    curves: [measured(run.progress), line(run.progress && growth ? gamma : null, "proved")],
    xLabel: "update k",
    note: "",
  });
  charts.length.draw({ curves: [measured(run.sq_norm), line(growth, "proved")], xLabel: "update k" });
  const cosine = (k) =>
    run.sq_norm[k] > 0 ? Math.min(1, Math.max(-1, run.progress[k] / Math.sqrt(run.sq_norm[k]))) : 0;
  const most = Math.max(2, Math.min(200, run.n_updates));
  const step = (k) => 1 + (k * Math.max(0, run.n_updates - 1)) / (most - 1);
  const bound = {
    x: step,
    y: (k) => (Math.sqrt(step(k)) * gamma) / Math.sqrt(growth),
    length: gamma && growth && n ? most : 0,
    kind: "proved",
  };
  charts.cosine.draw({
    curves: [{ x: run.update, y: cosine, length: run.progress ? n : 0, kind: "measured" }, bound],
    xLabel: "update k",
    top: 1,
    note: "",
  });
  say($("proof-reason"), proof.reason ?? "");
  const star = Boolean(run.progress);
  for (const figure of document.querySelectorAll(".with-star")) figure.hidden = !star;
  say($("proof-title"), gamma && growth ? "Why it must stop" : star ? "How w moves" : "How w grows");
  moveProof(app);
}

/** Move to the current position: the lines in the charts, and the numbers. */
export function moveProof(app) {
  const { run, now: at } = app;
  if (!run?.proof) return;
  const made = run.madeAt(at);
  for (const name of ["progress", "length", "cosine"]) charts[name].move(made);
  const { gamma, growth, max_updates: most } = run.proof;
  const k = at - 1;
  const parts = [];
  if (at > 0 && run.progress && gamma && growth) {
    parts.push(`After k = ${count(made)}: k·γ = ${number(made * gamma)} ≤ w*·w = ${number(run.progress[k])}`);
    parts.push(`${squared(app)} = ${number(run.sq_norm[k])} ≤ k·${growthName(app)} = ${number(made * growth)}`);
    const cosine = run.sq_norm[k] > 0 ? run.progress[k] / Math.sqrt(run.sq_norm[k]) : 0;
    parts.push(
      `so √k·γ/√growth = ${number((Math.sqrt(made) * gamma) / Math.sqrt(growth))} ≤ cos = ${number(cosine)} ≤ 1`.replace(
        "√growth",
        growthRoot(app),
      ),
    );
    if (most !== null && most !== undefined) parts.push(`so k can never exceed ${count(most)}`);
  } else if (at > 0 && run.sq_norm) {
    parts.push(
      `After k = ${count(made)}: ${squared(app)} = ${number(run.sq_norm[k])}${growth ? ` ≤ k·${growthName(app)} = ${number(made * growth)}` : ""}`,
    );
  } else parts.push("Step to an update to see its numbers");
  say($("proof-now"), `${parts.join("; ")}.`);
}

/** ‖w‖², with the bias as a weight if there is one. */
function squared(app) {
  return app.choiceOf(app.run).fit_intercept ? "‖(w, b)‖²" : "‖w‖²";
}

function growthName(app) {
  const square = app.run.vectors === 1 ? "R²" : "2R²";
  return ["margin", "uneven"].includes(app.choiceOf(app.run).rule) ? `(${square} + 2β)` : square;
}

function growthRoot(app) {
  const name = growthName(app);
  return { "R²": "R", "2R²": "(√2·R)" }[name] ?? `√${name}`;
}

// -- errors over passes -----------------------------------------------------------------------------------------

export function drawErrors(app) {
  const { run } = app;
  if (!run?.training_errors) {
    charts.errors.draw({ curves: [], xLabel: "pass", note: app.whole ? "" : "drawn when you let go of the point" });
    say($("errors-text"), "");
    return;
  }
  const curve = (values, kind) => ({ x: (k) => k + 1, y: values, length: values.length, kind });
  const held = run.validation_errors ?? [];
  charts.errors.draw({
    curves: [
      curve(
        run.mistakes.map((m) => m / run.n_rows),
        "online",
      ),
      curve(run.training_errors, "measured"),
      curve(held, "held"),
    ],
    xLabel: "pass",
    top: 0.05,
  });
  const last = (values) => number(100 * values.at(-1), 3);
  const kept = held.length
    ? `held-out error ${last(held)} %`
    : "there are no held-out points, so nothing says how it does on new ones";
  say(
    $("errors-text"),
    `After ${counted(run.n_iter, "pass", "passes")}: training error ${last(run.training_errors)} %; ${kept}.`,
  );
  $("key-held").hidden = !held.length;
  moveErrors(app);
}

export function moveErrors(app) {
  const { run, at } = app;
  if (run?.training_errors) charts.errors.move(at === 0 ? null : run.passOf(at));
}
