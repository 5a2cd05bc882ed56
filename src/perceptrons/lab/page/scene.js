// The scene: points, classes and choices; its history; and the address that holds all of it.

/** The choices of a model, with the names of the library's parameters. */
export const CHOICE = Object.freeze({
  estimator: "Perceptron",
  rule: "perceptron",
  params: {},
  readout: "last",
  fit_intercept: true,
  eta0: 1,
  order: "given",
  random_state: 0,
  init: "zeros",
  tie: "mistake",
  max_iter: 100,
  tol: 0.001,
  kernel: "rbf",
  gamma: 1,
  degree: 2,
  coef0: 1,
  budget: null,
  policy: "projectron++",
  threshold: 0.1,
});

const SIGNS = [-1, 1];

/** A scene without points. */
export function empty() {
  return { rows: [], labels: [], classes: [...SIGNS], names: ["x1", "x2"], models: [{ ...CHOICE }], held_out: 0 };
}

export const copy = (scene) => structuredClone(scene);

/** The classes for this many: −1 and +1, or 0, 1, 2, … */
export const usualClasses = (n) => (n <= 2 ? [...SIGNS] : Array.from({ length: n }, (_, c) => c));

/** Whether classes are the usual ones, so that their number may change. */
export const areUsual = (classes) => JSON.stringify(classes) === JSON.stringify(usualClasses(classes.length));

/** Scenes that can be undone and done again. */
export class History {
  constructor(limit = 200) {
    this.limit = limit;
    this.past = [];
    this.future = [];
  }

  /** Remember a scene before it changes. */
  keep(scene) {
    const text = JSON.stringify(scene);
    if (this.past.at(-1) === text) return;
    this.past.push(text);
    if (this.past.length > this.limit) this.past.shift();
    this.future = [];
  }

  undo(scene) {
    return this.go(scene, this.past, this.future);
  }

  redo(scene) {
    return this.go(scene, this.future, this.past);
  }

  go(scene, from, to) {
    const now = JSON.stringify(scene);
    let text = from.pop();
    while (text === now) text = from.pop(); // nothing had changed since
    if (text === undefined) return null;
    to.push(now);
    return JSON.parse(text);
  }
}

// -- the address ------------------------------------------------------------------------------------------------

const LONGEST = 200_000; // characters of an address

/** What differs from the usual, so that addresses are short. */
function brief(scene, more) {
  const models = scene.models.map((model) =>
    Object.fromEntries(
      Object.entries(model).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(CHOICE[name])),
    ),
  );
  return { r: scene.rows, l: scene.labels, c: scene.classes, n: scene.names, m: models, h: scene.held_out, ...more };
}

/** The text behind # in the address; null if the scene is too large for one. */
export async function toFragment(scene, more = {}) {
  const bytes = new TextEncoder().encode(JSON.stringify(brief(scene, more)));
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const buffer = new Uint8Array(await new Response(packed).arrayBuffer());
  let binary = "";
  for (const byte of buffer) binary += String.fromCharCode(byte);
  const text = btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  return text.length > LONGEST ? null : text;
}

/** The scene in an address, and what else it says; throws if it is damaged. */
export async function fromFragment(text) {
  const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const { r, l, c, n, m, h, ...more } = JSON.parse(await new Response(unpacked).text());
  if (!Array.isArray(r) || !Array.isArray(l) || r.length !== l.length || !Array.isArray(m) || !m.length)
    throw new Error();
  const models = m.slice(0, 2).map((model) => ({ ...CHOICE, ...model }));
  return { scene: { rows: r, labels: l, classes: c, names: n, models, held_out: h }, more };
}
