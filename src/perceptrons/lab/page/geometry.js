// Plane geometry: views, half-planes, hulls and curves where a field is zero.

/** The part of the plane that is shown, and its size on the screen; both axes have the same scale. */
export class View {
  constructor(left, right, bottom, top, width, height) {
    Object.assign(this, { left, right, bottom, top, width, height });
  }

  /** A view that shows these points with room around them. */
  static around(points, width, height) {
    if (!points.length) return View.centred(0, 0, 6 / width, width, height);
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const [x, y] of points) {
      left = Math.min(left, x);
      right = Math.max(right, x);
      bottom = Math.min(bottom, y);
      top = Math.max(top, y);
    }
    const spread = Math.max(right - left, top - bottom) || Math.max(1, Math.abs(left), Math.abs(top)) / 2;
    const unit = Math.max((right - left + 0.5 * spread) / width, (top - bottom + 0.5 * spread) / height);
    return View.centred((left + right) / 2, (bottom + top) / 2, unit, width, height);
  }

  /** A view with this centre, where a pixel has the length `unit`. */
  static centred(x, y, unit, width, height) {
    return new View(
      x - (unit * width) / 2,
      x + (unit * width) / 2,
      y - (unit * height) / 2,
      y + (unit * height) / 2,
      width,
      height,
    );
  }

  get unit() {
    return (this.right - this.left) / this.width;
  }

  get centre() {
    return [(this.left + this.right) / 2, (this.bottom + this.top) / 2];
  }

  get box() {
    return [
      [this.left, this.bottom],
      [this.right, this.bottom],
      [this.right, this.top],
      [this.left, this.top],
    ];
  }

  /** From the plane to the screen, and back. */
  x(x) {
    return (x - this.left) / this.unit;
  }

  y(y) {
    return (this.top - y) / this.unit;
  }

  back(px, py) {
    return [this.left + px * this.unit, this.top - py * this.unit];
  }

  holds([x, y], inset = 0) {
    const d = inset * this.unit;
    return x >= this.left + d && x <= this.right - d && y >= this.bottom + d && y <= this.top - d;
  }

  zoomed(factor) {
    return View.centred(...this.centre, this.unit * factor, this.width, this.height);
  }

  /** The same part of the plane, and more if the shape of the screen has changed. */
  resized(width, height) {
    const unit = this.unit * Math.max(this.width / width, this.height / height);
    return View.centred(...this.centre, unit, width, height);
  }

  /** An SVG path through points of the plane. */
  path(points, closed = true) {
    if (points.length < 2) return "";
    return `M${points.map(([x, y]) => `${this.x(x).toFixed(2)} ${this.y(y).toFixed(2)}`).join("L")}${closed ? "Z" : ""}`;
  }
}

/** Round numbers for the marks of an axis: at most about `most` of them. */
export function marks(low, high, most = 8) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((size) => size >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

/** The part of a convex polygon where a·x + b·y + c >= 0. */
export function clipped(polygon, [a, b, c]) {
  const value = ([x, y]) => a * x + b * y + c;
  const kept = [];
  polygon.forEach((p, i) => {
    const q = polygon[(i + 1) % polygon.length];
    const [u, v] = [value(p), value(q)];
    if (u >= 0) kept.push(p);
    if (u < 0 !== v < 0) {
      const t = u / (u - v);
      kept.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
    }
  });
  return kept;
}

/** The two ends of the line a·x + b·y + c = 0 in a convex polygon; null if it misses it. */
export function chord(polygon, [a, b, c]) {
  if (a === 0 && b === 0) return null;
  const ends = [];
  const value = ([x, y]) => a * x + b * y + c;
  polygon.forEach((p, i) => {
    const q = polygon[(i + 1) % polygon.length];
    const [u, v] = [value(p), value(q)];
    if (u < 0 !== v < 0) {
      const t = u / (u - v);
      ends.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
    }
  });
  return ends.length === 2 ? ends : null;
}

/** The region of each class, as a convex polygon: where its line scores highest. For one line: below 0, above 0. */
export function regions(box, lines) {
  if (lines.length === 1) {
    const [a, b, c] = lines[0];
    return [clipped(box, [-a, -b, -c]), clipped(box, [a, b, c])];
  }
  return lines.map((own, k) =>
    lines.reduce((left, other, j) => (j === k || !left.length ? left : clipped(left, difference(own, other))), box),
  );
}

export const difference = (p, q) => [p[0] - q[0], p[1] - q[1], p[2] - q[2]];

/** The convex hull of points, anticlockwise. */
export function hull(points) {
  const sorted = [...points].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  if (sorted.length < 3) return sorted;
  const turn = (o, p, q) => (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
  const half = (list) => {
    const kept = [];
    for (const p of list) {
      while (kept.length > 1 && turn(kept.at(-2), kept.at(-1), p) <= 0) kept.pop();
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** Segments along which a field over a grid is `level` (marching squares), in units of the grid. */
export function contour(field, columns, rows, level = 0) {
  const segments = [];
  const at = (i, j) => field[j * columns + i] - level;
  for (let j = 0; j + 1 < rows; j++) {
    for (let i = 0; i + 1 < columns; i++) {
      const corners = [
        [i, j],
        [i + 1, j],
        [i + 1, j + 1],
        [i, j + 1],
      ];
      const values = corners.map(([x, y]) => at(x, y));
      const cuts = [];
      for (let e = 0; e < 4; e++) {
        const [u, v] = [values[e], values[(e + 1) % 4]];
        if (u > 0 === v > 0) continue;
        const t = u / (u - v);
        const [p, q] = [corners[e], corners[(e + 1) % 4]];
        cuts.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
      }
      for (let k = 0; k + 1 < cuts.length; k += 2) segments.push([cuts[k], cuts[k + 1]]);
    }
  }
  return segments;
}
