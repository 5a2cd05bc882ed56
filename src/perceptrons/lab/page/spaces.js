// Three more views of a run: the step as a sum of vectors, weight space, and the dual view.

import { chord, clipped } from "./geometry.js";
import { icon } from "./marks.js";
import { arrow } from "./plane.js";
import { $, draw, label, make, number, say, show } from "./words.js";

const SIZE = 260;
const MOST = 2000; // points of a path that are drawn
const BARS = 14; // rows of the dual view

/** A square picture whose centre is the origin: functions from numbers to pixels, for vectors of this length. */
function square(longest) {
  const scale = (0.42 * SIZE) / (longest || 1);
  const place = ([x, y]) => [SIZE / 2 + scale * x, SIZE / 2 - scale * y];
  const half = SIZE / 2 / scale;
  return {
    place,
    box: [
      [-half, -half],
      [half, -half],
      [half, half],
      [-half, half],
    ],
  };
}

const cross = () => [
  draw("line", { class: "zero", x1: 0, x2: SIZE, y1: SIZE / 2, y2: SIZE / 2 }),
  draw("line", { class: "zero", x1: SIZE / 2, x2: SIZE / 2, y1: 0, y2: SIZE }),
];

function prepared(id, about) {
  const svg = $(id);
  svg.setAttribute("viewBox", `0 0 ${SIZE} ${SIZE}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", about);
  return svg;
}

// -- the step as vectors ----------------------------------------------------------------------------------------

/** w, the step and their sum, from the origin; of several classes, the two that move. */
export function drawStep(app) {
  const { run, at } = app;
  const svg = prepared("step", "The step as a sum of vectors: w before, the step along x, and w after");
  if (!run || run.kernel || at === 0 || !run.flat || run.row[at - 1] < 0) {
    const why = run?.kernel ? "in a kernel's feature space" : "no update yet";
    show(svg, draw("text", { class: "note", x: SIZE / 2, y: SIZE / 2 }, why));
    say(
      $("step-text"),
      run?.kernel
        ? "A kernel's feature space may have any number of dimensions, so the step cannot be drawn. The dual view shows its coefficients."
        : "Step forward: the picture shows w, the step, and their sum.",
    );
    return;
  }
  const before = run.lines(at - 1, false);
  const after = run.lines(at, false);
  const moving = run.vectors === 1 ? [0] : [run.code[at - 1], run.rival[at - 1]];
  const longest = Math.max(
    ...moving.flatMap((v) => [Math.hypot(...before[v].slice(0, 2)), Math.hypot(...after[v].slice(0, 2))]),
    1e-12,
  );
  const { place } = square(longest);
  const parts = cross();
  moving.forEach((v, j) => {
    const [o, p, q] = [place([0, 0]), place(before[v]), place(after[v])];
    parts.push(arrow(...o, ...p, "before"), arrow(...p, ...q, "change"), arrow(...o, ...q, "normal"));
    const name = run.vectors === 1 ? "" : ` ${label(run.classes[v], run.classes)}`;
    const step = run.vectors === 1 ? { tau: "τ·y·x", scale: "step", metric: "α·y·Σx" }[run.kind] : `${"+−"[j]}τ·x`;
    parts.push(
      beside(o, p, q, `w${name}`, "before"),
      beside(p, q, o, step, "change"),
      beside(o, q, p, `w${name} after`, "after"),
    );
  });
  show(svg, ...parts);
  say(
    $("step-text"),
    run.kind === "scale"
      ? "This rule also scales w, so that the step is not along x alone."
      : run.kind === "metric"
        ? "This rule steps along Σx: further where it is less sure of a weight."
        : run.vectors === 1
          ? "The step goes along x: towards it if y = +1, away from it if y = −1."
          : "The right class moves towards x, the strongest other class away from it.",
  );
}

/** A name beside an arrow from p to q, on the side away from `other`; nothing if the arrow is too short to name. */
function beside(p, q, other, words, kind) {
  const [dx, dy] = [q[0] - p[0], q[1] - p[1]];
  const length = Math.hypot(dx, dy);
  if (length < 16) return null;
  const middle = [p[0] + 0.62 * dx, p[1] + 0.62 * dy];
  const across = [-dy / length, dx / length];
  const towards = (other[0] - middle[0]) * across[0] + (other[1] - middle[1]) * across[1];
  const side = towards > 0 ? -1 : 1;
  const [x, y] = [middle[0] + 9 * side * across[0], middle[1] + 9 * side * across[1]];
  const anchor = side * across[0] > 0.3 ? "start" : side * across[0] < -0.3 ? "end" : "middle";
  return draw("text", { class: `letter ${kind}`, x, y: y + 4, "text-anchor": anchor }, words);
}

// -- weight space -----------------------------------------------------------------------------------------------

/** Why weight space is not drawn; null if it is. */
function noWeightSpace(app) {
  const choice = app.scene.models[app.active];
  if (choice.estimator !== "Perceptron") return "Weight space is drawn for linear models.";
  if (app.scene.classes.length !== 2 || app.scene.names.length !== 2)
    return "Weight space is drawn for two classes and two features.";
  if (choice.fit_intercept)
    return "With a bias there are three weights. Turn the bias off to see the space of the two others.";
  return null;
}

/** Each row allows half of all w; the cone is what all rows allow; the path is what w went through. */
export function drawWeights(app) {
  const { run, at } = app;
  const why = noWeightSpace(app);
  $("weights-save").hidden = why !== null;
  $("weights-off").hidden = why === null;
  $("weights-on").hidden = why !== null;
  $("bias-off").hidden = !why?.startsWith("With a bias");
  if (why !== null) {
    say($("weights-why"), why);
    return;
  }
  const svg = prepared(
    "weights",
    "Weight space: the half-planes that points allow, the cone of separators, and the path of w",
  );
  if (!run?.path || run.vectors !== 1 || run.path.shape[2] !== 3) {
    show(svg);
    return;
  }
  const stride = Math.max(1, Math.ceil((at + 1) / MOST));
  const path = [];
  let longest = 0;
  for (let k = 0; k <= at; k++) {
    const [x, y] = [run.path[3 * k], run.path[3 * k + 1]];
    longest = Math.max(longest, Math.hypot(x, y));
    if (k % stride === 0 || k === at) path.push([x, y]);
  }
  const { place, box } = square(longest);
  const rows = app.shownScene.rows.map((x, i) =>
    app.held.has(i) ? null : x.map((value) => (app.isPositive(run, i, app.shownScene) ? value : -value)),
  );
  const separable = app.shown.verdicts.find((each) => !each.fit_intercept)?.separable;
  let cone = separable ? box : [];
  for (const z of rows) if (z && cone.length > 2) cone = clipped(cone, [z[0], z[1], 0]);
  const line = (points, closed) =>
    `M${points
      .map((p) =>
        place(p)
          .map((v) => v.toFixed(1))
          .join(" "),
      )
      .join("L")}${closed ? "Z" : ""}`;
  const parts = [];
  if (cone.length > 2) parts.push(draw("path", { class: "cone", d: line(cone, true) }));
  rows.forEach((z, i) => {
    const ends = z && chord(box, [z[0], z[1], 0]);
    if (ends)
      parts.push(
        draw("path", {
          class: `allowed c${app.shownScene.labels[i]}${at > 0 && run.row[at - 1] === i ? " is-work" : ""}`,
          d: line(ends, false),
        }),
      );
  });
  const work = at > 0 ? rows[run.row[at - 1]] : null;
  if (work) parts.unshift(draw("path", { class: "half", d: line(clipped(box, [work[0], work[1], 0]), true) }));
  parts.push(...cross());
  if (path.length > 1) parts.push(draw("path", { class: "trail", d: line(path, false) }));
  const [x, y] = place(path.at(-1));
  parts.push(draw("circle", { class: "here", cx: x, cy: y, r: 5 }));
  show(svg, ...parts);
  say(
    $("weights-text"),
    separable
      ? "The shaded cone holds every w that separates the points. Each line is a point: it allows one side."
      : "No w is allowed by all points, so there is no cone.",
  );
}

// -- the dual view ----------------------------------------------------------------------------------------------

/** w = Σ αᵢ·yᵢ·xᵢ: how much each row has added. */
export function drawDual(app) {
  const { run, at } = app;
  const box = $("dual");
  say($("dual-text"), dualText(run));
  let sums = null;
  if (run?.kernel) {
    const field = app.planes[run.number]?.field;
    if (field?.alpha && field.at === at) {
      sums = new Map();
      const n = app.shownScene.rows.length;
      for (let i = 0; i < n; i++) {
        let size = 0;
        for (let v = 0; v < run.vectors; v++) size = Math.max(size, Math.abs(field.alpha[v * n + i]));
        if (size > 0) sums.set(i, size);
      }
    }
  } else sums = run?.multipliers(at) ?? null;
  if (!sums) {
    const why =
      run && run.kind !== "tau" ? "This rule's steps are not along points, so that w is not a sum of them." : "";
    show(box, make("p", { class: "soft" }, why));
    return;
  }
  if (!sums.size) {
    show(box, make("p", { class: "soft" }, "No point has made a step yet."));
    return;
  }
  const sorted = [...sums].sort((p, q) => q[1] - p[1]);
  const most = sorted[0][1];
  const bars = sorted.slice(0, BARS).map(([row, size]) => {
    const bar = make("span", { class: `fill c${app.shownScene.labels[row]}` });
    bar.style.width = `${Math.max(1, (100 * size) / most)}%`;
    return make(
      "li",
      {},
      make("span", { class: "name" }, icon(app.shownScene.labels[row]), `point ${row}`),
      make("span", { class: "track" }, bar),
      make("span", { class: "value" }, number(size, 3)),
    );
  });
  const rest = sorted.length > BARS ? make("p", { class: "soft" }, `and ${sorted.length - BARS} more points`) : null;
  show(box, make("ul", { class: "bars" }, ...bars), rest);
}

/** What w is made of, as a formula. */
function dualText(run) {
  if (!run || run.kind !== "tau") return "";
  const start = run.choice.init === "random" && !run.kernel ? "w₀ + " : "";
  const point = run.kernel ? "φ(xᵢ)" : "xᵢ";
  return run.vectors === 1
    ? `w = ${start}Σ αᵢ·yᵢ·${point}: how much each point has added.`
    : "How much each point has added to the weight vectors of the classes.";
}
