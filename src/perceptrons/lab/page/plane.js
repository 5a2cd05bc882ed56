// The plane: points, boundary, w, margin band, certificate.

import { View, chord, contour, difference, hull, marks, regions } from "./geometry.js";
import { Hands } from "./hands.js";
import { mark } from "./marks.js";
import { draw, label, number, show } from "./words.js";

export class Plane extends Hands {
  /** `owner` has the scene, and takes what the user does. */
  constructor(figure, owner) {
    super(figure.querySelector("svg"), owner);
    this.figure = figure;
    this.canvas = figure.querySelector("canvas");
    this.layers = {};
    for (const name of ["regions", "axes", "certificate", "below", "points", "above"]) {
      this.layers[name] = draw("g", { class: name });
      this.svg.append(this.layers[name]);
    }
    this.nodes = [];
  }

  // -- drawing ----------------------------------------------------------------------------------------------

  /** Take the size on the screen; the view keeps its centre. */
  measure() {
    const { width, height } = this.figure.querySelector(".stage").getBoundingClientRect();
    if (!width || !height) return;
    if (!this.view || this.view.width !== width || this.view.height !== height) {
      this.view = this.view && this.zoomed ? this.view.resized(width, height) : this.around(width, height);
      this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.canvas.width = width;
      this.canvas.height = height;
    }
  }

  fit() {
    this.zoomed = false;
    this.measure();
    if (this.view) this.view = this.around(this.view.width, this.view.height);
  }

  /** A view of all points; without a bias, also of the origin, through which the boundary goes. */
  around(width, height) {
    const { positions, scene } = this.owner;
    const origin = scene.names.length === 2 && scene.models.some((model) => !model.fit_intercept) && positions.length;
    return View.around(origin ? [...positions, [0, 0]] : positions, width, height);
  }

  /** Draw a run at a position; `run` may be null. */
  draw(run, at) {
    this.measure();
    if (!this.view) return;
    const { layers, owner } = this;
    const context = this.canvas.getContext("2d");
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.drawAxes();
    const [below, above, back] = [[], [], []];
    if (run && !run.asks && run.flat) this.drawLines(run, at, back, below, above);
    // While a point is dragged, the field of a moment ago is better than none.
    if (run?.asks && this.field && (this.field.run === run || !owner.whole)) this.drawField(run, context, below);
    show(layers.regions, ...back);
    const certified = owner.layers.certificate && !run?.kernel && !owner.lessons.waits;
    show(layers.certificate, ...(certified ? this.certificate() : []));
    show(layers.below, ...below);
    this.drawPoints(run, at);
    if (run && at > 0 && owner.whole) this.drawWork(run, at, above);
    if (this.cursor && owner.selected === null) above.push(...this.cross(this.cursor));
    show(layers.above, ...above);
  }

  drawAxes() {
    const { view } = this;
    const key = [view.left, view.right, view.bottom, view.top, view.width, view.height].join();
    if (key === this.drawnAxes) return;
    this.drawnAxes = key;
    const parts = [];
    const most = Math.max(3, Math.round(view.width / 90));
    for (const x of marks(view.left, view.right, most)) {
      parts.push(
        draw("line", { class: x === 0 ? "zero" : "rule", x1: view.x(x), x2: view.x(x), y1: 0, y2: view.height }),
      );
      parts.push(draw("text", { class: "tick", x: view.x(x) + 3, y: view.height - 4 }, number(x)));
    }
    for (const y of marks(view.bottom, view.top, Math.max(3, Math.round(view.height / 70)))) {
      parts.push(
        draw("line", { class: y === 0 ? "zero" : "rule", x1: 0, x2: view.width, y1: view.y(y), y2: view.y(y) }),
      );
      parts.push(draw("text", { class: "tick", x: 3, y: view.y(y) - 3 }, number(y)));
    }
    show(this.layers.axes, ...parts);
  }

  /** Regions, boundary, band and w of a linear hypothesis. */
  drawLines(run, at, back, below, above) {
    const { view, owner } = this;
    const lines = run.lines(at);
    const flat = lines.every(([a, b]) => a === 0 && b === 0);
    if (flat) {
      below.push(
        draw(
          "text",
          { class: "note", x: view.width / 2, y: 22 },
          `${run.vectors === 1 ? "w" : "all w"} = 0: there is no boundary`,
        ),
      );
      return;
    }
    regions(view.box, lines).forEach((polygon, code) => {
      if (polygon.length > 2)
        back.push(draw("path", { class: `region c${owner.codeOf(run, code)}`, d: view.path(polygon) }));
    });
    if (lines.length > 1) {
      for (let c = 0; c < lines.length; c++) for (let r = 0; r < c; r++) this.edge(lines, c, r, below);
      return;
    }
    const line = lines[0];
    const ends = chord(view.box, line);
    if (ends) below.push(draw("path", { class: "boundary", d: view.path(ends, false) }));
    const length = Math.hypot(line[0], line[1]);
    if (owner.layers.band) this.drawBand(run, line, length, below);
    if (owner.layers.w) this.drawNormal(line, length, above);
  }

  /** The part of the line between two classes where both score highest. */
  edge(lines, c, r, below) {
    const between = difference(lines[c], lines[r]);
    const ends = chord(this.view.box, between);
    if (!ends) return;
    const others = lines.filter((_, k) => k !== c && k !== r).map((other) => difference(lines[c], other));
    let [from, to] = [0, 1];
    for (const [a, b, d] of others) {
      const [u, v] = ends.map(([x, y]) => a * x + b * y + d);
      if (u < 0 && v < 0) return;
      if (u < 0) from = Math.max(from, u / (u - v));
      else if (v < 0) to = Math.min(to, u / (u - v));
    }
    if (from >= to) return;
    const point = (t) => [0, 1].map((k) => ends[0][k] + t * (ends[1][k] - ends[0][k]));
    below.push(draw("path", { class: "boundary", d: this.view.path([point(from), point(to)], false) }));
  }

  /** The band that is as wide as the smallest distance, if all learned points are right. */
  drawBand(run, line, length, below) {
    const { owner, view } = this;
    if (owner.scene.names.length !== 2) return;
    let least = Infinity;
    owner.positions.forEach(([x, y], i) => {
      if (owner.held.has(i)) return;
      const side = owner.isPositive(run, i) ? 1 : -1;
      least = Math.min(least, (side * (line[0] * x + line[1] * y + line[2])) / length);
    });
    if (!(least > 0) || least === Infinity) return;
    for (const side of [-1, 1]) {
      const ends = chord(view.box, [line[0], line[1], line[2] + side * least * length]);
      if (ends) below.push(draw("path", { class: "band", d: view.path(ends, false) }));
    }
  }

  /** w as an arrow at right angles to the boundary. */
  drawNormal(line, length, above) {
    const { view } = this;
    const [cx, cy] = view.centre;
    const distance = (line[0] * cx + line[1] * cy + line[2]) / length;
    const foot = [cx - (distance * line[0]) / length, cy - (distance * line[1]) / length];
    if (!view.holds(foot, 10)) return;
    const [px, py] = [view.x(foot[0]), view.y(foot[1])];
    const [dx, dy] = [(46 * line[0]) / length, (-46 * line[1]) / length];
    above.push(arrow(px, py, px + dx, py + dy, "normal"));
    above.push(draw("text", { class: "letter", x: px + 1.25 * dx, y: py + 1.25 * dy + 4 }, "w"));
  }

  /** A field of scores that the server computed: regions as a picture, boundaries as curves. */
  drawField(run, context, below) {
    const { scores, columns, rows, view: box } = this.field;
    const fields = fieldsOf(scores, run.vectors, columns * rows);
    const image = new ImageData(columns, rows);
    const colours = this.owner.colours();
    for (let p = 0; p < columns * rows; p++) {
      const code = fields.length === 1 ? Number(fields[0][p] > 0) : fields.findIndex((field) => field[p] >= 0);
      const [r, g, b] = colours[this.owner.codeOf(run, Math.max(0, code))];
      const q = 4 * ((rows - 1 - Math.floor(p / columns)) * columns + (p % columns));
      image.data.set([r, g, b, 46], q);
    }
    const small = new OffscreenCanvas(columns, rows);
    small.getContext("2d").putImageData(image, 0, 0);
    const { view } = this;
    const [x0, y0, x1, y1] = [view.x(box[0]), view.y(box[3]), view.x(box[1]), view.y(box[2])];
    const [dx, dy] = [(x1 - x0) / (columns - 1), (y1 - y0) / (rows - 1)];
    context.imageSmoothingEnabled = true;
    context.drawImage(small, x0 - dx / 2, y0 - dy / 2, x1 - x0 + dx, y1 - y0 + dy);
    const place = ([i, j]) => `${(x0 + i * dx).toFixed(1)} ${(y1 - j * dy).toFixed(1)}`;
    for (const field of fields) {
      const d = contour(field, columns, rows)
        .map(([p, q]) => `M${place(p)}L${place(q)}`)
        .join("");
      if (d) below.push(draw("path", { class: "boundary", d }));
    }
  }

  /** The proof of the verdict: the best separator with its support, or what cannot be separated. */
  certificate() {
    const { owner, view } = this;
    const verdict = owner.verdict();
    if (!verdict || owner.scene.names.length !== 2) return [];
    const parts = [];
    const { positions } = owner;
    const ring = (i, kind) => {
      if (!positions[i]) return; // the answer to the last change is still under way
      const [x, y] = positions[i];
      parts.push(draw("circle", { class: kind, cx: view.x(x), cy: view.y(y), r: kind === "conflict" ? 18 : 12 }));
    };
    if (
      verdict.separable &&
      verdict.coef &&
      owner.scene.classes.length === 2 &&
      typeof verdict.intercept === "number"
    ) {
      const line = [...verdict.coef, verdict.intercept];
      for (const shift of [-verdict.margin, 0, verdict.margin]) {
        const ends = chord(view.box, [line[0], line[1], line[2] + shift]);
        if (ends) parts.push(draw("path", { class: shift ? "best edge" : "best", d: view.path(ends, false) }));
      }
      for (const i of verdict.support) ring(i, "support");
    } else if (verdict.separable === false) {
      for (const i of verdict.irreducible ?? []) ring(i, "conflict");
      const few = (verdict.irreducible ?? [])
        .filter((i) => positions[i])
        .map((i) => [positions[i], owner.scene.labels[i]]);
      for (const code of new Set(few.map(([, c]) => c))) {
        const corner = hull(few.filter(([, c]) => c === code).map(([p]) => p));
        if (verdict.fit_intercept && corner.length > 1)
          parts.push(draw("path", { class: "hull", d: view.path(corner) }));
      }
      if (verdict.point && verdict.fit_intercept) {
        const [px, py] = [view.x(verdict.point[0]), view.y(verdict.point[1])];
        parts.push(draw("path", { class: "meeting", d: `M${px - 8} ${py - 8}l16 16M${px + 8} ${py - 8}l-16 16` }));
      }
    }
    return parts;
  }

  drawPoints(run, at) {
    const { owner, view, layers } = this;
    const key = JSON.stringify([owner.scene.labels, [...owner.held]]);
    if (key !== this.drawnPoints) {
      this.drawnPoints = key;
      this.nodes = owner.scene.labels.map((code, i) => {
        const node = draw(
          "g",
          {},
          draw("title", {}, `point ${i} of class ${label(owner.scene.classes[code], owner.scene.classes)}`),
          draw("circle", { class: "reach", r: 14 }),
          draw("circle", { class: "wrong", r: 10 }),
          mark(code, { class: owner.held.has(i) ? "held" : "" }),
          draw("circle", { class: "pillar", r: 2.2 }),
          draw("text", { class: "number", x: 9, y: -7 }, String(i)),
        );
        return node;
      });
      show(layers.points, ...this.nodes);
    }
    const wrong = owner.lessons.waits ? null : owner.wrongAt(run, at, this.field);
    const verdict = owner.layers.certificate && !run?.kernel && !owner.lessons.waits ? owner.verdict() : null;
    const named = new Set(verdict ? (verdict.separable ? verdict.support : verdict.irreducible) : []);
    const alpha = run?.kernel && this.field?.run === run ? (this.field.alpha ?? null) : null;
    const n = this.nodes.length;
    const supports = (i) =>
      alpha !== null &&
      alpha.length === n * run.vectors &&
      Array.from({ length: run.vectors }, (_, v) => alpha[v * n + i]).some(Boolean);
    this.nodes.forEach((node, i) => {
      const [x, y] = owner.positions[i];
      node.setAttribute("transform", `translate(${view.x(x).toFixed(1)} ${view.y(y).toFixed(1)})`);
      node.setAttribute(
        "class",
        `point${wrong?.[i] ? " is-wrong" : ""}${owner.selected === i ? " is-selected" : ""}${supports(i) ? " is-support" : ""}${named.has(i) ? " is-named" : ""}`,
      );
    });
  }

  /** The row in work. */
  drawWork(run, at, above) {
    const row = run.row?.[at - 1];
    if (row === undefined || row < 0 || !this.owner.positions[row]) return;
    const [x, y] = this.owner.positions[row].map((v, k) => (k ? this.view.y(v) : this.view.x(v)));
    above.push(draw("circle", { class: "work", cx: x, cy: y, r: 15 }));
    if (this.owner.layers.x && this.owner.scene.names.length === 2) {
      const [ox, oy] = [this.view.x(0), this.view.y(0)];
      above.push(
        arrow(ox, oy, x, y, "row"),
        draw("text", { class: "letter row", x: (ox + x) / 2 + 6, y: (oy + y) / 2 - 6 }, "x"),
      );
    }
  }

  cross([x, y]) {
    const [px, py] = [this.view.x(x), this.view.y(y)];
    return [draw("path", { class: "cursor", d: `M${px - 12} ${py}h24M${px} ${py - 12}v24` })];
  }
}

/** For each class, a field that is positive where it wins; for two classes one field is enough. */
function fieldsOf(scores, vectors, size) {
  const own = Array.from({ length: vectors }, (_, v) => scores.subarray(v * size, (v + 1) * size));
  if (vectors === 1) return own;
  return own.map((field, v) =>
    field.map((score, p) => score - Math.max(...own.filter((_, r) => r !== v).map((other) => other[p]))),
  );
}

/** An arrow from one point of the screen to another. */
export function arrow(x1, y1, x2, y2, kind) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 0.5) return draw("g");
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const size = Math.min(9, 0.6 * length);
  const head = [
    [x2, y2],
    [x2 - size * ux - 0.45 * size * uy, y2 - size * uy + 0.45 * size * ux],
    [x2 - size * ux + 0.45 * size * uy, y2 - size * uy - 0.45 * size * ux],
  ];
  return draw(
    "g",
    { class: `arrow ${kind}` },
    draw("line", { x1, y1, x2: x2 - 0.7 * size * ux, y2: y2 - 0.7 * size * uy }),
    draw("path", { d: `M${head.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L")}Z` }),
  );
}
