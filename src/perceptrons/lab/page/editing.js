// What changes a scene: points, classes, choices; and the way back.

import { History, areUsual, empty, usualClasses } from "./scene.js";
import { $, count, label } from "./words.js";

/** The part of the lab that holds the scene. The whole lab draws it, asks for it and tells of it. */
export class Editor {
  constructor() {
    this.scene = empty();
    this.history = new History();
    this.active = 0; // number of the model whose run the panels show
    this.code = 0; // class of the next point
    this.selected = null;
    this.deleting = false;
  }

  /** Before points change: false if they cannot. */
  begin() {
    if (!this.editable) {
      this.tell(
        "These points have more than two features, so they cannot be drawn by hand. Choose two columns to do that.",
        true,
      );
      return false;
    }
    this.history.keep(this.scene);
    $("sets").value = ""; // the points are the user's own from now on
    return true;
  }

  /** After the scene has changed. */
  changed({ fits = false, keepsPosition = false } = {}) {
    if (!keepsPosition) this.follows = true;
    if (this.link.welcome) this.drawControls();
    if (fits) this.fit();
    $("undo").disabled = !this.history.past.length;
    $("redo").disabled = !this.history.future.length;
    $("held_out").value = Math.round(100 * this.scene.held_out);
    this.selected = this.selected !== null && this.selected < this.scene.rows.length ? this.selected : null;
    this.code = Math.min(this.code, this.scene.classes.length - 1);
    this.clock.stop();
    this.redraw();
    this.please(true);
    this.laterAddress();
  }

  /** Show all points; again when the library has said where they are in the plane. */
  fit() {
    this.fits = !this.editable;
    for (const plane of this.planes) plane.fit();
  }

  add(point) {
    const { rows: most } = this.link.welcome.limits;
    if (this.scene.rows.length >= most) {
      this.tell(`The lab shows at most ${count(most)} points.`, true);
      return;
    }
    if (!this.begin()) return;
    this.selected = null;
    this.scene = { ...this.scene, rows: [...this.scene.rows, point], labels: [...this.scene.labels, this.code] };
    this.scene.models = this.limited(this.scene.rows.length);
    this.tell(
      `Added point ${this.scene.rows.length - 1} of class ${label(this.scene.classes[this.code], this.scene.classes)}.`,
    );
    this.changed();
  }

  move(i, point, dragging) {
    this.scene = { ...this.scene, rows: this.scene.rows.map((row, k) => (k === i ? point : row)) };
    if (!dragging) {
      this.changed();
      return;
    }
    this.follows = true;
    this.redraw();
    this.please(false);
  }

  /** After a drag. */
  settle() {
    this.changed();
  }

  remove(i) {
    this.history.keep(this.scene);
    $("sets").value = "";
    const without = (list) => list.filter((_, k) => k !== i);
    this.scene = { ...this.scene, rows: without(this.scene.rows), labels: without(this.scene.labels) };
    this.selected = null;
    this.tell(`Deleted point ${i}.`);
    this.changed();
  }

  select(i) {
    this.selected = i;
    this.redraw();
  }

  selectNext(step) {
    const n = this.scene.rows.length;
    if (!n) return;
    this.select(this.selected === null ? (step > 0 ? 0 : n - 1) : (this.selected + step + n) % n);
    const [x, y] = this.positions[this.selected];
    this.tell(
      `Point ${this.selected} of class ${label(this.scene.classes[this.scene.labels[this.selected]], this.scene.classes)} at ${x}, ${y}.`,
    );
  }

  /** The class of the next point; `relabels`: and of the selected one. */
  chooseClass(code, relabels = false) {
    if (code >= this.scene.classes.length) return;
    [this.code, this.deleting] = [code, false];
    if (relabels && this.selected !== null && this.scene.labels[this.selected] !== code) {
      this.history.keep(this.scene);
      this.scene = { ...this.scene, labels: this.scene.labels.map((old, k) => (k === this.selected ? code : old)) };
      this.changed();
    } else this.drawControls();
    this.tell(`Class ${label(this.scene.classes[code], this.scene.classes)}.`);
  }

  mayAddClass() {
    return areUsual(this.scene.classes) && this.scene.classes.length < this.link.welcome.limits.classes;
  }

  addClass() {
    this.history.keep(this.scene);
    this.scene = { ...this.scene, classes: usualClasses(this.scene.classes.length + 1) };
    this.code = this.scene.classes.length - 1;
    this.changed();
  }

  /** New points; the choices stay, unless they are given too. */
  take(points, models = null) {
    if (this.scene.rows.length || this.shown) this.history.keep(this.scene);
    this.scene = { ...this.scene, ...points, models: models ?? this.limited(points.rows.length) };
    this.selected = null;
    this.changed({ fits: true });
  }

  /** The models with as many passes as so many points allow. */
  limited(n) {
    const most = Math.max(1, Math.floor((this.link.welcome?.limits.visits ?? 100_000) / Math.max(1, n)));
    return this.scene.models.map((model) => ({ ...model, max_iter: Math.min(model.max_iter, most) }));
  }

  /** Load a named set. */
  async load(name) {
    const answer = await this.link.ask("set", { name });
    if (answer.error) {
      this.tell(answer.error, true);
      return;
    }
    const classes = usualClasses(Math.max(2, ...answer.labels.map((code) => code + 1)));
    this.take({ rows: answer.rows, labels: answer.labels, classes, names: ["x1", "x2"] });
    $("sets").value = name;
  }

  choose(choice) {
    this.history.keep(this.scene);
    this.scene = { ...this.scene, models: this.scene.models.map((model, k) => (k === this.active ? choice : model)) };
    this.changed();
  }

  compare() {
    this.history.keep(this.scene);
    const models =
      this.scene.models.length === 2
        ? [this.scene.models[0]]
        : [
            this.scene.models[0],
            { ...this.scene.models[0], readout: this.scene.models[0].readout === "averaged" ? "last" : "averaged" },
          ];
    this.scene = { ...this.scene, models };
    this.active = models.length - 1;
    this.changed({ fits: true });
  }

  activate(number) {
    const seen = this.run ? (this.at === this.run.end ? Infinity : this.run.seenAt(this.at)) : Infinity;
    this.active = number;
    this.reason = this.shown?.models[number]?.error ?? "";
    this.at = this.run?.positionAt(seen) ?? 0;
    this.drawControls();
    this.draw();
    this.drawAll();
    this.laterAddress();
  }

  undo(again = false) {
    const scene = again ? this.history.redo(this.scene) : this.history.undo(this.scene);
    if (!scene) return;
    this.scene = scene;
    this.active = Math.min(this.active, scene.models.length - 1);
    this.tell(again ? "Done again." : "Undone.");
    this.changed();
  }
}
