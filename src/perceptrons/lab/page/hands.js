// What the pointer and the keyboard do to points.

import { number } from "./words.js";

const NEAR = 14; // pixels within which a point is hit
const STEP = 10; // pixels that an arrow key moves

/** Listens on an <svg> whose `view` maps the plane to the screen; `owner` has the points, and takes what is done. */
export class Hands {
  constructor(svg, owner) {
    this.svg = svg;
    this.owner = owner;
    this.view = null;
    this.cursor = null; // where the next point goes, with the keyboard
    this.listen();
  }

  // -- the pointer ------------------------------------------------------------------------------------------

  listen() {
    const { svg } = this;
    svg.addEventListener("pointerdown", (event) => this.press(event));
    svg.addEventListener("pointermove", (event) => this.drag(event));
    svg.addEventListener("pointerup", (event) => this.release(event));
    svg.addEventListener("pointercancel", (event) => this.release(event));
    svg.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      const hit = this.hit(event);
      if (hit !== null) this.owner.remove(hit);
    });
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("blur", () => {
      this.cursor = null;
      this.owner.redraw();
    });
  }

  where(event) {
    const box = this.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  /** The number of the point under the pointer; null if there is none. */
  hit(event) {
    const [px, py] = this.where(event);
    let [best, near] = [null, NEAR];
    this.owner.positions.forEach(([x, y], i) => {
      const distance = Math.hypot(this.view.x(x) - px, this.view.y(y) - py);
      if (distance < near) [best, near] = [i, distance];
    });
    return best;
  }

  press(event) {
    if (event.button !== 0) return;
    const hit = this.hit(event);
    this.svg.setPointerCapture(event.pointerId);
    this.pressed = { hit, at: this.where(event), moved: false };
    if (hit !== null) this.owner.select(hit);
  }

  drag(event) {
    const { pressed } = this;
    if (!pressed || pressed.hit === null || this.owner.deleting) return;
    const at = this.where(event);
    if (!pressed.moved && Math.hypot(at[0] - pressed.at[0], at[1] - pressed.at[1]) < 3) return;
    if (!pressed.moved && !this.owner.begin("moved a point")) {
      this.pressed = null;
      return;
    }
    pressed.moved = true;
    const inside = [
      Math.min(Math.max(at[0], 4), this.view.width - 4),
      Math.min(Math.max(at[1], 4), this.view.height - 4),
    ];
    this.owner.move(pressed.hit, this.rounded(this.view.back(...inside)), true);
  }

  release(event) {
    const { pressed } = this;
    this.pressed = null;
    if (!pressed || event.type === "pointercancel") return;
    if (pressed.moved) this.owner.settle();
    else if (this.owner.deleting) pressed.hit !== null && this.owner.remove(pressed.hit);
    else if (pressed.hit === null) this.owner.add(this.rounded(this.view.back(...pressed.at)));
  }

  /** Coordinates with no more digits than one can see. */
  rounded(point) {
    const digits = Math.min(12, Math.max(0, Math.ceil(-Math.log10(this.view.unit))));
    return point.map((x) => Number(x.toFixed(digits)));
  }

  // -- the keyboard -----------------------------------------------------------------------------------------

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { owner } = this;
    const letter = event.key.toLowerCase();
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const far = event.shiftKey ? 1 : STEP;
    if (event.key in arrows) {
      const [dx, dy] = arrows[event.key].map((d) => d * far * this.view.unit);
      if (owner.selected !== null) {
        const [x, y] = owner.positions[owner.selected];
        if (owner.begin("moved a point")) {
          owner.move(owner.selected, this.rounded([x + dx, y + dy]), false);
          owner.tell(
            `Point ${owner.selected} is at ${owner.positions[owner.selected].map((v) => number(v)).join(", ")}.`,
          );
        }
      } else {
        const [x, y] = this.cursor ?? this.view.centre;
        this.cursor = this.rounded([x + dx, y + dy]);
        owner.tell(`Cursor at ${this.cursor.map((v) => number(v)).join(", ")}.`);
        owner.redraw();
      }
    } else if (event.key === "Enter" || event.key === " ") {
      owner.add(this.cursor ?? this.rounded(this.view.centre));
    } else if (event.key === "Delete" || event.key === "Backspace") {
      if (owner.selected !== null) owner.remove(owner.selected);
    } else if (letter === "n" || letter === "p") {
      owner.selectNext(letter === "n" ? 1 : -1);
    } else if (event.key === "Escape") {
      owner.select(null);
    } else if (/^[1-6]$/.test(event.key)) {
      owner.chooseClass(Number(event.key) - 1, true);
    } else return;
    event.preventDefault();
  }
}
