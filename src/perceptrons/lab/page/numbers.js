// What happened in numbers: the update with its formula, the blackboard's table, and the facts about the fitted model.

import { count, counted, label, make, number, percent, plus, say, show, vector } from "./words.js";

const AROUND = 5; // lines of the table before and after the current one

const signed = (y) => (y > 0 ? "+1" : "−1");
const line = (text, kind = "") => make("p", { class: `formula ${kind}` }, text);

/** A fact with its exact value in an attribute, for whoever checks it. */
function fact(name, text, value, id) {
  const exact = value === undefined ? null : JSON.stringify(value);
  return make("div", {}, make("dt", {}, name), make("dd", { id, "data-value": exact }, text));
}

// -- the update -------------------------------------------------------------------------------------------------

/** The lines that tell an update: the margin, the step, and the margin after it. */
export function updateLines(app, run, at) {
  if (at === 0) {
    const start = run.weights(0);
    const zeros = start?.every((w) => w.every((x) => x === 0)) ?? true;
    const how = zeros
      ? "All weights are 0, so that every score is 0. In prediction, a score of 0 means the first class."
      : `The weights are random: w = ${vector(start[0].slice(0, -1))}, b = ${number(start[0].at(-1))}.`;
    return [line(`Before the first update. ${how}`, "words")];
  }
  const k = at - 1;
  if (run.row[k] < 0) return [line("From here on, the lab shows one position for each pass.", "words")];
  if (run.kernel) return kernelLines(app, run, k);
  return run.vectors === 1 ? twoClassLines(app, run, k) : severalLines(app, run, k);
}

function twoClassLines(app, run, k) {
  const x = app.shownScene.rows[run.row[k]];
  const y = run.code[k] === 1 ? 1 : -1;
  const [before, after] = [run.weights(k), run.weights(k + 1)];
  if (!before) return [marginLine(run, k, "m = y·(w·x + b)"), stepLine(run, k, x, app.choiceOf(run).fit_intercept)];
  const [w, b] = [before[0].slice(0, -1), before[0].at(-1)];
  const [w1, b1] = [after[0].slice(0, -1), after[0].at(-1)];
  const bias = app.choiceOf(run).fit_intercept;
  const score = bias ? `(${vector(w)}·${vector(x)} ${plus(b)})` : `${vector(w)}·${vector(x)}`;
  const lines = [
    marginLine(run, k, `m = y·(w·x${bias ? " + b" : ""}) = ${signed(y)}·${score}`),
    stepLine(run, k, x, bias),
  ];
  const tau = number(run.tau[k]);
  if (run.kind === "tau") {
    lines.push(line(`w ← w + τ·y·x = ${vector(w)} + ${tau}·(${signed(y)})·${vector(x)} = ${vector(w1)}`, "step"));
    if (bias) lines.push(line(`b ← b + τ·y = ${number(b)} ${plus(y * run.tau[k])} = ${number(b1)}`, "step"));
  } else if (run.kind === "scale") {
    lines.push(
      line(
        `w ← s·w + τ·y·x = ${number(run.second[k])}·${vector(w)} + ${tau}·(${signed(y)})·${vector(x)} = ${vector(w1)}`,
        "step",
      ),
    );
    if (bias) lines.push(line(`b ← s·b + τ·y = ${number(b1)}`, "step"));
  } else {
    const moved = w1.map((value, j) => value - w[j]);
    lines.push(line(`w ← w + α·y·Σx = ${vector(w)} + ${vector(moved)} = ${vector(w1)}`, "step"));
    if (bias) lines.push(line(`b ← ${number(b1)}`, "step"));
    lines.push(line(`Σ⁻¹ ← Σ⁻¹ + c·xxᵀ with c = ${number(run.second[k])}`, "step"));
  }
  lines.push(line(`after the step: m = ${number(run.after[k])}`));
  return lines;
}

function severalLines(app, run, k) {
  const x = app.shownScene.rows[run.row[k]];
  const names = [run.code[k], run.rival[k]].map((code) => label(run.classes[code], run.classes));
  const [before, after] = [run.weights(k), run.weights(k + 1)];
  const lines = [
    marginLine(run, k, `m = score of ${names[0]} − score of ${names[1]}, the strongest other class`),
    stepLine(run, k, x),
  ];
  [run.code[k], run.rival[k]].forEach((code, j) => {
    const step = run.kind === "metric" ? `${"+−"[j]} α·Σx` : `${"+−"[j]} τ·x`;
    const was = run.kind === "scale" ? "s·w" : "w";
    if (before) {
      lines.push(
        line(
          `w of ${names[j]} ← ${was} ${step} = ${vector(after[code].slice(0, -1))}, b = ${number(after[code].at(-1))}`,
          "step",
        ),
      );
    }
  });
  lines.push(line(`after the step: m = ${number(run.after[k])}`));
  return lines;
}

function kernelLines(app, run, k) {
  const row = run.row[k];
  const y = run.code[k] === 1 ? 1 : -1;
  const lines = [
    marginLine(
      run,
      k,
      run.vectors === 1 ? "m = y·(Σ αⱼ·yⱼ·k(xⱼ, x) + b)" : "m = score of its class − best other score",
    ),
  ];
  if (app.choiceOf(run).budget) {
    lines.push(line(`point ${row} makes a step; the policy keeps at most ${app.choiceOf(run).budget} points`, "step"));
  } else if (run.vectors === 1) {
    lines.push(line(`α·y of point ${row} ← α·y + τ·y, τ·y = ${number(run.tau[k] * y)}`, "step"));
  } else {
    const names = [run.code[k], run.rival[k]].map((code) => label(run.classes[code], run.classes));
    lines.push(
      line(`point ${row}: +${number(run.tau[k])} for ${names[0]}, −${number(run.tau[k])} for ${names[1]}`, "step"),
    );
  }
  lines.push(line(`after the step: m = ${number(run.after[k])}`));
  return lines;
}

function marginLine(run, k, formula) {
  const kind = run.mistake[k] ? "a mistake" : "right, but not by enough for the rule";
  const compared = run.mistake[k] ? (run.before[k] < 0 ? " < 0" : ": 0 counts as") : "";
  return line(`${formula} = ${number(run.before[k])}${compared}${compared.endsWith("as") ? ` ${kind}` : `: ${kind}`}`);
}

function stepLine(run, k, x, bias = true) {
  const square = x.reduce((sum, value) => sum + value * value, bias ? 1 : 0) * (run.vectors === 1 ? 1 : 2);
  const names = { tau: "τ", metric: "α", scale: "τ" };
  const parts = [];
  if (run.choice.rule.startsWith("pa"))
    parts.push(
      `ℓ = 1 − m = ${number(Math.max(0, 1 - run.before[k]))}, ${bias ? "‖(x, 1)‖²" : "‖x‖²"} = ${number(square)}`,
    );
  if (run.kind === "metric") parts.push(`v = xᵀΣx = ${number(run.variance[k])}`);
  parts.push(`${names[run.kind]} = ${number(run.tau[k])}`);
  if (run.kind === "scale") parts.push(`s = ${number(run.second[k])}`);
  if (run.eta0 !== 1) parts.push(`with η = ${number(run.eta0)}`);
  return line(`step: ${parts.join(", ")}`);
}

/** One sentence on the current position, for screen readers. */
export function sentence(app, run, at) {
  if (at === 0) return `Before the first of ${counted(run.n_updates, "update")}.`;
  const k = at - 1;
  const where = `Update ${count(run.update[k])} of ${count(run.n_updates)}, pass ${run.passOf(at)}`;
  if (run.row[k] < 0) return `${where}.`;
  const what = run.mistake[k] ? "mistake" : "margin too small";
  const weights = run.weights(at);
  const end = at === run.end ? ` End: ${run.stop}.` : "";
  const now =
    weights && run.vectors === 1 ? ` w is ${vector(weights[0].slice(0, -1))}, b is ${number(weights[0].at(-1))}.` : "";
  return `${where}: point ${run.row[k]} of class ${label(run.classes[run.code[k]], run.classes)}, ${what}, margin ${number(run.before[k])} before, ${number(run.after[k])} after.${now}${end}`;
}

// -- the table --------------------------------------------------------------------------------------------------

/** The columns of the table: a heading, and the text of an update. */
function columns(app, run) {
  const weights = (k) => run.weights(k + 1);
  const found = [
    ["k", (k) => count(run.update[k])],
    ["pass", (k) => count(run.passOf(k + 1))],
    ["point", (k) => (run.row[k] < 0 ? "–" : run.row[k])],
    ["x", (k) => (run.row[k] < 0 ? "–" : vector(app.shownScene.rows[run.row[k]], 3, 4))],
    ["y", (k) => (run.row[k] < 0 ? "–" : label(run.classes[run.code[k]], run.classes))],
    ["m before", (k) => number(run.before[k], 3)],
    [run.kind === "metric" ? "α" : "τ", (k) => number(run.tau[k], 3)],
    ["m after", (k) => number(run.after[k], 3)],
  ];
  if (run.path && run.path.shape[2] <= 5) {
    const names = run.vectors === 1 ? [""] : run.classes.map((c) => ` of ${label(c, run.classes)}`);
    names.forEach((of, v) => {
      found.push([`w${of}`, (k) => vector(weights(k)[v].slice(0, -1), 3)]);
      if (app.choiceOf(run).fit_intercept) found.push([`b${of}`, (k) => number(weights(k)[v].at(-1), 3)]);
    });
  }
  found.push([app.choiceOf(run).fit_intercept ? "‖(w, b)‖²" : "‖w‖²", (k) => number(run.sq_norm?.[k], 3)]);
  return found;
}

/** Draw the lines of the table around the current position. */
export function drawTable(app, run, at) {
  const table = document.getElementById("table");
  if (!run || run.length === 0) {
    show(table.tHead);
    show(table.tBodies[0]);
    say(table.caption, run ? "No update was made." : "");
    return;
  }
  const cells = columns(app, run);
  show(table.tHead, make("tr", {}, ...cells.map(([name]) => make("th", { scope: "col" }, name))));
  const first = Math.max(0, Math.min(at - 1 - AROUND, run.length - 2 * AROUND - 1));
  const last = Math.min(run.length, first + 2 * AROUND + 1);
  const lines = [];
  for (let k = first; k < last; k++) {
    const current = k === at - 1;
    const line = make("tr", { class: current ? "current" : "", "aria-current": current ? "true" : null });
    line.append(...cells.map(([, text], j) => make(j ? "td" : "th", j ? {} : { scope: "row" }, String(text(k)))));
    line.addEventListener("click", () => app.goTo(k + 1));
    lines.push(line);
  }
  show(table.tBodies[0], ...lines);
  say(
    table.caption,
    `Updates ${count(run.update[first])} to ${count(run.update[last - 1])} of ${count(run.n_updates)}`,
  );
}

/** All updates as CSV, with all digits. */
export function csv(app, run) {
  const names = app.shownScene.names;
  const head = [
    "update",
    "pass",
    "seen",
    "row",
    ...names.map((n) => `x[${n}]`),
    "label",
    "mistake",
    "margin_before",
    "margin_after",
    "tau",
  ];
  const vectors = run.path ? (run.vectors === 1 ? [""] : run.classes.map((c) => `${c}, `)) : [];
  for (const of of vectors) head.push(...names.map((n) => `w[${of}${n}]`), of ? `b[${of.slice(0, -2)}]` : "b");
  head.push("sq_norm");
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const lines = [head.map(quoted).join(",")];
  for (let k = 0; k < run.length; k++) {
    const row = run.row[k];
    const x = row < 0 ? names.map(() => "") : app.shownScene.rows[row];
    const cells = [
      run.update[k],
      run.passOf(k + 1),
      run.seen[k],
      row,
      ...x,
      row < 0 ? "" : quoted(String(run.classes[run.code[k]])),
    ];
    cells.push(row < 0 ? "" : Number(run.mistake[k]), run.before[k], run.after[k], run.tau[k]);
    if (run.path) for (const w of run.weights(k + 1)) cells.push(...w);
    cells.push(run.sq_norm[k]);
    lines.push(cells.map((cell) => (Number.isNaN(cell) ? "" : cell)).join(","));
  }
  return `${lines.join("\n")}\n`;
}

// -- the fitted model -------------------------------------------------------------------------------------------

/** Facts about a fitted model; `id` sets them apart from those of the other model. */
export function resultFacts(run, id) {
  const weights = run.coef
    ? run.coef
        .map(
          (w, c) =>
            `${run.vectors === 1 ? "" : `${label(run.classes[c], run.classes)}: `}${w.length > 6 ? `${w.length} weights` : vector(w)}`,
        )
        .join("; ")
    : null;
  const facts = [fact("how it ended", `${run.stop}`, run.converged, `converged-${id}`)];
  if (weights) {
    facts.push(fact("w", weights, run.coef, `coef-${id}`));
    facts.push(fact("b", run.intercept.map((b) => number(b)).join("; "), run.intercept, `intercept-${id}`));
  } else if (run.kernel && run.support) {
    facts.push(fact("points it is made of", count(run.support.length), run.support.length, `support-${id}`));
  } else if (run.by_vote) {
    facts.push(fact("w", "none: many hypotheses vote"));
  }
  facts.push(
    fact("passes", count(run.n_iter), run.n_iter, `passes-${id}`),
    fact("points seen", count(run.n_seen), run.n_seen, `seen-${id}`),
    fact("mistakes", count(run.n_mistakes), run.n_mistakes, `mistakes-${id}`),
    fact("updates", count(run.n_updates), run.n_updates, `updates-${id}`),
    fact("training error", percent(run.training_error), run.training_error, `training-${id}`),
  );
  const held = run.validation_error === null ? "no held-out points" : percent(run.validation_error);
  facts.push(fact("held-out error", held, run.validation_error, `held-${id}`));
  if (run.shown_margin_bound) {
    facts.push(
      fact(
        "proved by this run",
        `no line has a margin above ${run.shown_margin_bound.replace(/-/g, "−")}${run.choice.fit_intercept ? " (b counts as a weight)" : ""}`,
        run.margin_bound,
        `margin-${id}`,
      ),
    );
  }
  return facts;
}
