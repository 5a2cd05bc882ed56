// Small charts: curves over updates or passes, with a line at the current position.

import { marks } from "./geometry.js";
import { draw, number, show } from "./words.js";

const BOX = { left: 46, right: 312, top: 10, bottom: 132 };
const MOST = 600; // points of a curve that are drawn

export class Chart {
  /** A chart in an <svg>; `about` names it for screen readers. */
  constructor(svg, about) {
    this.svg = svg;
    this.about = about;
    svg.setAttribute("viewBox", "0 0 320 168");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", about);
  }

  /**
   * Draw curves: each has `x` and `y` (arrays, or functions of an index), `length`, a `name` and a `kind` for its look.
   * `at` is the current x; null if there is none.
   */
  draw({ curves, xLabel, at = null, top = null, whole = true, note = "" }) {
    const drawn = curves.filter((curve) => curve.length > 0);
    const parts = [];
    if (!drawn.length) {
      show(this.svg, draw("text", { class: "note", x: 160, y: 70 }, note || "nothing to draw yet"));
      return;
    }
    const thin = drawn.map(thinned);
    let [x0, x1, y0, y1] = [Infinity, -Infinity, 0, top ?? -Infinity];
    for (const points of thin) {
      for (const [x, y] of points) {
        if (!Number.isFinite(y)) continue;
        [x0, x1, y0, y1] = [Math.min(x0, x), Math.max(x1, x), Math.min(y0, y), Math.max(y1, y)];
      }
    }
    if (x1 === x0) x1 = x0 + 1;
    if (!(y1 > y0)) y1 = y0 + 1;
    const px = (x) => BOX.left + ((x - x0) / (x1 - x0)) * (BOX.right - BOX.left);
    const py = (y) => BOX.bottom - ((y - y0) / (y1 - y0)) * (BOX.bottom - BOX.top);
    this.px = px;
    this.range = [x0, x1];
    for (const y of marks(y0, y1, 4)) {
      parts.push(draw("line", { class: y === 0 ? "zero" : "rule", x1: BOX.left, x2: BOX.right, y1: py(y), y2: py(y) }));
      parts.push(draw("text", { class: "tick", x: BOX.left - 5, y: py(y) + 3.5, "text-anchor": "end" }, number(y, 3)));
    }
    for (const x of marks(x0, x1, 5).filter((value) => !whole || Number.isInteger(value))) {
      parts.push(draw("text", { class: "tick", x: px(x), y: BOX.bottom + 14, "text-anchor": "middle" }, number(x, 6)));
    }
    parts.push(draw("text", { class: "axis", x: (BOX.left + BOX.right) / 2, y: BOX.bottom + 31 }, xLabel));
    thin.forEach((points, k) => {
      const line = points
        .filter(([, y]) => Number.isFinite(y))
        .map(([x, y]) => `${px(x).toFixed(1)} ${py(y).toFixed(1)}`);
      parts.push(draw("path", { class: `curve ${drawn[k].kind}`, d: `M${line.join("L")}` }));
      if (points.length <= 30) {
        for (const [x, y] of points)
          if (Number.isFinite(y))
            parts.push(draw("circle", { class: `dot ${drawn[k].kind}`, cx: px(x), cy: py(y), r: 2.2 }));
      }
    });
    this.now = draw("line", { class: "now", y1: BOX.top, y2: BOX.bottom });
    parts.push(this.now);
    show(this.svg, ...parts);
    this.move(at);
  }

  /** Move the line of the current position. */
  move(at) {
    if (!this.now) return;
    const seen = at !== null && this.range && at >= this.range[0] && at <= this.range[1];
    this.now.setAttribute("visibility", seen ? "visible" : "hidden");
    if (seen) {
      this.now.setAttribute("x1", this.px(at));
      this.now.setAttribute("x2", this.px(at));
    }
  }
}

/** A few points of a curve: of each stretch, the lowest and the highest. */
function thinned({ x, y, length }) {
  const at = (of, k) => (typeof of === "function" ? of(k) : of[k]);
  const all = (k) => [at(x, k), at(y, k)];
  if (length <= MOST) return Array.from({ length }, (_, k) => all(k));
  const points = [all(0)];
  const stretch = (2 * length) / MOST;
  for (let begin = 1; begin < length - 1; begin += stretch) {
    let [low, high] = [Math.floor(begin), Math.floor(begin)];
    const end = Math.min(length - 1, Math.floor(begin + stretch));
    for (let k = low; k < end; k++) {
      if (at(y, k) < at(y, low)) low = k;
      if (at(y, k) > at(y, high)) high = k;
    }
    points.push(all(Math.min(low, high)));
    if (low !== high) points.push(all(Math.max(low, high)));
  }
  points.push(all(length - 1));
  return points;
}
