// The marks of classes: a shape and a colour each, so that nobody needs to tell colours apart.

import { draw } from "./words.js";

const SHAPES = [
  "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0Z",
  "M0-7.2L6.6 5.2H-6.6Z",
  "M-5.2-5.2H5.2V5.2H-5.2Z",
  "M0-7.4L7.4 0L0 7.4L-7.4 0Z",
  "M-2.2-6.6H2.2V-2.2H6.6V2.2H2.2V6.6H-2.2V2.2H-6.6V-2.2H-2.2Z",
  "M0-7.6L1.9-2.4L7.3-2.4L3-.8 4.6 6L0 2.9L-4.6 6L-3-.8L-7.3-2.4L-1.9-2.4Z",
];

/** The mark of a class, as an element of SVG. */
export function mark(code, attributes = {}) {
  return draw("path", {
    d: SHAPES[code % SHAPES.length],
    ...attributes,
    class: `mark c${code} ${attributes.class ?? ""}`,
  });
}

/** A small picture of the mark, for text. */
export function icon(code) {
  return draw("svg", { class: "icon", viewBox: "-9 -9 18 18", "aria-hidden": "true" }, mark(code));
}
