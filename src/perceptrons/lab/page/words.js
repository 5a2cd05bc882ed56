// Small helpers: elements, numbers and words. Text only ever becomes textContent or an attribute, never markup.

const SVG = "http://www.w3.org/2000/svg";

export const $ = (id) => document.getElementById(id);

/** Make an element with attributes and children; names that start with "on" are listeners. */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Assign text only if it differs: a selection survives, and a screen reader hears no repetition. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Replace the children of an element. */
export function show(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

const MINUS = "\u2212";

/** A number with a few digits, as on a blackboard: 0.25, −3, 1.2e6. */
export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === "inf" || value === Infinity) return "∞";
  if (value === "-inf" || value === -Infinity) return `${MINUS}∞`;
  if (Object.is(value, -0) || value === 0) return "0";
  const size = Math.abs(value);
  const whole = size >= 10 ** (digits - 1) && size < 1e7;
  const text = whole
    ? value.toFixed(0)
    : size >= 1e7 || size < 1e-4
      ? value.toExponential(digits - 1)
      : value.toPrecision(digits);
  const [head, power] = text.split("e");
  const short = head.includes(".") ? head.replace(/\.?0+$/, "") : head;
  return (power ? `${short}e${Number(power)}` : short).replace(/-/g, MINUS);
}

/** A whole number with separators; very large ones are rounded. */
export const count = (n) => (Math.abs(n) < 1e12 ? Number(n).toLocaleString("en") : number(Number(n)));

/** A count with its noun: 1 update, 2 updates. */
export function counted(n, noun, plural = `${noun}s`) {
  return `${count(n)} ${Number(n) === 1 ? noun : plural}`;
}

/** A share as a percentage. */
export function percent(share) {
  return share === null || share === undefined ? "–" : `${number(100 * share, 3)}\u00a0%`;
}

/** A number to be added: + 1, or − 2. */
export function plus(value, digits = 4) {
  return value < 0 ? `− ${number(-value, digits)}` : `+ ${number(value, digits)}`;
}

/** A vector: (1, −2). Of a long one, the beginning. */
export function vector(values, digits = 4, most = 8) {
  const shown = Array.from(values)
    .slice(0, most)
    .map((x) => number(x, digits));
  return `(${shown.join(", ")}${values.length > most ? ", …" : ""})`;
}

/** A label as people write it: +1, −1, 2, or a name. */
export function label(value, classes = []) {
  if (typeof value !== "number") return String(value);
  const signed = classes.length === 2 && classes[0] === -1 && classes[1] === 1;
  return signed && value > 0 ? `+${number(value)}` : number(value, 12);
}

/** A colour of the style sheet as the page shows it now: rgb(…). */
export function colour(name) {
  const probe = make("span", { hidden: true });
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** Call a function at most once a frame, with the last arguments. */
export function framed(work) {
  let asked = null;
  return (...args) => {
    if (asked === null)
      requestAnimationFrame(() => {
        const last = asked;
        asked = null;
        work(...last);
      });
    asked = args;
  };
}

/** Give text to the user as a file. */
export function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
