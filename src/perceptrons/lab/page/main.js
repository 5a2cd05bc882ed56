// The lab: a scene, what the library makes of it, and the position in time that all panels show.

import { drawChoices, drawClasses } from "./choices.js";
import * as data from "./data.js";
import { Lessons } from "./lessons.js";
import { Link, Newest } from "./link.js";
import { icon } from "./marks.js";
import { drawTable, resultFacts, sentence, updateLines } from "./numbers.js";
import { Plane } from "./plane.js";
import * as proof from "./proof.js";
import { Run } from "./run.js";
import { CHOICE, History, areUsual, copy, empty, fromFragment, toFragment, usualClasses } from "./scene.js";
import { drawDual, drawStep, drawWeights } from "./spaces.js";
import * as take from "./take.js";
import { Clock } from "./time.js";
import { $, count, counted, framed, label, make, say, show } from "./words.js";

class App {
  constructor() {
    this.scene = empty();
    this.history = new History();
    this.shown = null; // the last answer
    this.runs = []; // of each model; null if it cannot be trained
    this.at = 0; // position in the run of the active model
    this.follows = true; // whether the position stays at the end when the run changes
    this.active = 0;
    this.code = 0; // class of the next point
    this.selected = null;
    this.deleting = false;
    this.held = new Set();
    this.layers = { w: true, band: true, x: false, certificate: true };
    this.set = "";
    this.redraw = framed(() => this.draw());
    this.link = new Link((event, content) => this.heard(event, content));
    this.asking = new Newest((question) => this.ask(question));
    this.planes = ["A", "B"].map((name) => new Plane($(`plane-${name}`), this));
    this.looking = this.planes.map((_, number) => new Newest((question) => this.look(number, question)));
    this.clock = new Clock(this);
    this.lessons = new Lessons(this);
    proof.begin();
    data.begin(this);
    take.begin(this);
    this.wire();
  }

  // -- the connection ---------------------------------------------------------------------------------------

  async heard(event, content) {
    if (event === "connected") {
      say($("status"), "");
      $("status").dataset.state = "connected";
      document.body.dataset.ready = "";
      if (!this.begun) await this.first(content);
      else this.please(true);
    } else {
      $("status").dataset.state = "lost";
      const why = event === "refused" ? "This address belongs to an earlier start: open the one that the command prints." : "The lab does not answer. Is it still running?";
      say($("status"), `${why} Trying again…`);
    }
  }

  /** What the page shows first: the scene in the address, the file of the command, or two clouds. */
  async first(welcome) {
    this.begun = true;
    show($("sets"), make("option", { value: "" }, "choose a set…"), ...welcome.sets.map(({ name, title, about }) => make("option", { value: name, title: about }, title)));
    if (await this.fromAddress()) return;
    if (welcome.file) await data.readNamed(this);
    else await this.load("clouds");
  }

  async fromAddress() {
    const text = new URLSearchParams(location.hash.slice(1)).get("s");
    if (!text) return false;
    try {
      const { scene, more } = await fromFragment(text);
      this.scene = scene;
      this.active = Math.min(more.a ?? 0, scene.models.length - 1);
      this.follows = more.k === undefined;
      this.at = more.k ?? 0;
      this.changed({ fits: true, keepsPosition: true });
      return true;
    } catch {
      this.tell("The scene in this address is damaged, so it cannot be shown.", true);
      return false;
    }
  }

  keepAddress() {
    clearTimeout(this.addressTimer);
    return this.writeAddress();
  }

  async writeAddress() {
    const more = { ...(this.follows ? {} : { k: this.at }), ...(this.active ? { a: this.active } : {}) };
    const text = await toFragment(this.scene, more);
    const hash = text === null ? "" : `#s=${text}`;
    this.written = hash;
    if (location.hash !== hash) history.replaceState(null, "", `${location.pathname}${location.search}${hash}`);
  }

  laterAddress() {
    clearTimeout(this.addressTimer);
    this.addressTimer = setTimeout(() => this.writeAddress(), 400);
  }

  // -- asking -----------------------------------------------------------------------------------------------

  /** Ask what the library makes of the scene; `whole`: with every update. */
  please(whole) {
    this.asking.please({ scene: this.scene, whole });
  }

  async ask({ scene, whole }) {
    const sent = copy(scene);
    const slow = setTimeout(() => say($("status"), "computing…"), 400);
    this.pending = true;
    const answer = await this.link.ask("show", { scene: sent, whole });
    this.pending = false;
    clearTimeout(slow);
    if (answer.lost) return;
    say($("status"), "");
    if (answer.error) {
      this.tell(answer.error, true);
      return;
    }
    this.receive(answer, sent);
  }

  receive(answer, scene) {
    this.shown = answer;
    this.shownScene = scene;
    this.held = new Set(answer.held_out);
    this.runs = answer.models.map((facts, number) => {
      if (facts.error) return null;
      const run = new Run(facts, answer.arrays, number);
      run.choice = scene.models[number];
      return run;
    });
    this.reason = answer.models[this.active]?.error ?? "";
    const end = this.run?.end ?? 0;
    if (answer.whole) this.at = this.follows ? end : Math.min(this.at, end);
    this.answers = (this.answers ?? 0) + 1;
    document.body.dataset.answers = this.answers;
    this.draw();
    this.drawAll();
    this.lessons.check();
  }

  /** Ask for scores over the grid of a plane. */
  async look(number, { run, at }) {
    const plane = this.planes[number];
    if (this.pending || this.runs[number] !== run || !plane.view) return; // a new answer asks anew
    const { left, right, bottom, top, width, height } = plane.view;
    const [columns, rows] = [width, height].map((size) => Math.min(120, Math.max(30, Math.round(size / 7))));
    const view = [left, right, bottom, top];
    const answer = await this.link.ask("look", { model: number, at, view, size: [columns, rows] });
    if (answer.error || this.runs[number] !== run) return;
    plane.field = { run, at, view, columns, rows, ...answer.arrays };
    this.draw();
    if (number === this.active) drawDual(this);
  }

  // -- what other parts ask ---------------------------------------------------------------------------------

  get run() {
    return this.runs[this.active] ?? null;
  }

  /** Whether the last answer has every update. */
  get whole() {
    return this.shown?.whole ?? false;
  }

  get editable() {
    return this.scene.names.length === 2;
  }

  /** Where points are drawn. */
  get positions() {
    if (this.editable) return this.scene.rows;
    const points = this.shown?.plane?.points;
    return points?.length === this.scene.rows.length ? points : this.scene.rows.map((row) => [row[0], 0]);
  }

  choiceOf(run) {
    return run.choice;
  }

  /** The number of a run's class in the scene; a run knows only classes that it has learned. */
  codeOf(run, code) {
    return this.scene.classes.indexOf(run.classes[code]);
  }

  isPositive(run, i, scene = this.scene) {
    return scene.classes[scene.labels[i]] === run.classes[1];
  }

  /** The verdict for the active model's setting of the bias. */
  verdict() {
    const bias = this.scene.models[this.active]?.fit_intercept ?? true;
    return this.shown?.verdicts?.find((each) => each.fit_intercept === bias) ?? null;
  }

  /** Which points the run predicts wrong at a position; null if that is not known. */
  wrongAt(run, at, field) {
    if (!run) return null;
    const { rows, labels } = this.scene;
    if (run.asks) {
      if (field?.run !== run || !field.predicted || field.predicted.length !== rows.length) return null;
      return labels.map((code, i) => this.codeOf(run, field.predicted[i]) !== code);
    }
    const weights = run.weights(at, true);
    if (!weights) return null;
    const positive = run.choice.tie === "positive";
    return rows.map((x, i) => {
      const scores = weights.map((w) => x.reduce((sum, value, j) => sum + value * w[j], 0) + w[w.length - 1]);
      let code = 0;
      if (scores.length === 1) code = Number(scores[0] > 0 || (positive && scores[0] === 0));
      else scores.forEach((score, c) => (code = score > scores[code] ? c : code));
      return this.codeOf(run, code) !== labels[i];
    });
  }

  /** The colours of classes, as red, green and blue. */
  colours() {
    const style = getComputedStyle(document.documentElement);
    return Array.from({ length: 6 }, (_, c) => {
      const text = style.getPropertyValue(`--c${c}`).trim();
      return [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16));
    });
  }

  /** Tell screen readers; `visible`: and everybody. */
  tell(text, visible = false) {
    say($("live"), text);
    if (!visible) return;
    say($("message-text"), text);
    $("message").hidden = false;
    clearTimeout(this.messageTimer);
    this.messageTimer = setTimeout(() => ($("message").hidden = true), 12000);
  }

  // -- changing the scene -----------------------------------------------------------------------------------

  /** Before points change: false if they cannot. */
  begin() {
    if (!this.editable) {
      this.tell("These points have more than two features, so they cannot be drawn by hand. Choose two columns to do that.", true);
      return false;
    }
    this.history.keep(this.scene);
    return true;
  }

  /** After the scene has changed. */
  changed({ fits = false, keepsPosition = false } = {}) {
    if (!keepsPosition) this.follows = true;
    if (fits) for (const plane of this.planes) plane.fit();
    $("undo").disabled = !this.history.past.length;
    $("redo").disabled = !this.history.future.length;
    $("held_out").value = Math.round(100 * this.scene.held_out);
    this.selected = this.selected !== null && this.selected < this.scene.rows.length ? this.selected : null;
    this.code = Math.min(this.code, this.scene.classes.length - 1);
    this.clock.stop();
    if (this.link.welcome) this.drawControls();
    this.redraw();
    this.please(true);
    this.laterAddress();
  }

  add(point) {
    const { rows: most } = this.link.welcome.limits;
    if (this.scene.rows.length >= most) {
      this.tell(`The lab shows at most ${count(most)} points.`, true);
      return;
    }
    if (!this.begin()) return;
    this.scene = { ...this.scene, rows: [...this.scene.rows, point], labels: [...this.scene.labels, this.code] };
    this.tell(`Added point ${this.scene.rows.length - 1} of class ${label(this.scene.classes[this.code], this.scene.classes)}.`);
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
    this.tell(`Point ${this.selected} of class ${label(this.scene.classes[this.scene.labels[this.selected]], this.scene.classes)} at ${x}, ${y}.`);
  }

  /** The class of the next point; a selected point gets it. */
  chooseClass(code) {
    if (code >= this.scene.classes.length) return;
    [this.code, this.deleting] = [code, false];
    if (this.selected !== null && this.scene.labels[this.selected] !== code) {
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
    this.history.keep(this.scene);
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
  }

  choose(choice) {
    this.history.keep(this.scene);
    this.scene = { ...this.scene, models: this.scene.models.map((model, k) => (k === this.active ? choice : model)) };
    this.changed();
  }

  compare() {
    this.history.keep(this.scene);
    const models = this.scene.models.length === 2 ? [this.scene.models[0]] : [this.scene.models[0], { ...this.scene.models[0], readout: "averaged" }];
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

  // -- time -------------------------------------------------------------------------------------------------

  /** Go to a position of the active run. */
  goTo(at, quietly = false) {
    if (!this.run) return;
    this.at = Math.min(Math.max(0, at), this.run.end);
    this.follows = this.at === this.run.end;
    this.draw();
    this.drawPosition();
    if (!quietly) this.tell(sentence(this, this.run, this.at));
    this.laterAddress();
    this.lessons.check();
  }

  /** The position of a model: that of the active one, or where the other had seen as many rows. */
  positionOf(number) {
    if (number === this.active || !this.run || !this.runs[number]) return number === this.active ? this.at : (this.runs[number]?.end ?? 0);
    return this.runs[number].positionAt(this.at === this.run.end ? Infinity : this.run.seenAt(this.at));
  }

  // -- drawing ----------------------------------------------------------------------------------------------

  /** The planes. */
  draw() {
    const two = this.scene.models.length === 2;
    const known = String(this.shownScene?.classes) === String(this.scene.classes); // or the answer is still under way
    this.planes.forEach((plane, number) => {
      if (number && !two) return;
      const run = known ? (this.runs[number] ?? null) : null;
      const at = this.whole ? this.positionOf(number) : (run?.end ?? 0);
      plane.draw(run, at);
      if (run?.asks && this.whole) {
        const { field, view } = plane;
        const stale = field?.run !== run || field.at !== at || field.view[0] !== view?.left || field.view[3] !== view?.top || field.view[1] !== view?.right;
        if (stale) this.looking[number].please({ run, at });
      }
    });
  }

  /** Everything that depends on the position. */
  drawPosition() {
    const { run, at } = this;
    const scrub = $("scrub");
    scrub.max = run?.end ?? 0;
    scrub.value = at;
    scrub.setAttribute("aria-valuetext", run ? `update ${run.madeAt(at)} of ${run.n_updates}` : "nothing to show");
    for (const id of ["to-start", "back"]) $(id).disabled = !run || at === 0;
    for (const id of ["step-on", "next-mistake", "to-end"]) $(id).disabled = !run || at === run.end;
    $("play").disabled = !run || run.end === 0;
    say($("position"), this.positionText());
    if (!this.whole) return;
    show($("update"), ...(run ? updateLines(this, run, at) : [make("p", { class: "soft" }, this.reason)]));
    drawTable(this, run, at);
    proof.moveProof(this);
    proof.moveErrors(this);
    drawStep(this);
    drawWeights(this);
    drawDual(this);
  }

  positionText() {
    const { run, at } = this;
    if (!run) return this.reason;
    if (at === 0) return `Start: ${counted(run.n_updates, "update")} to come, in ${counted(run.n_iter, "pass", "passes")}.`;
    const end = at === run.end ? ` ${run.stop[0].toUpperCase()}${run.stop.slice(1)}.` : "";
    const row = run.row[at - 1] < 0 ? "" : `, row ${run.row[at - 1]}`;
    return `Update ${count(run.madeAt(at))} of ${count(run.n_updates)}, pass ${count(run.passOf(at))} of ${count(run.n_iter)}${row}.${end}`;
  }

  /** Everything that depends on the answer. */
  drawAll() {
    proof.drawVerdicts(this);
    const results = this.runs.map((run, number) => {
      const name = this.runs.length === 2 ? make("h3", {}, `Model ${"AB"[number]}`) : null;
      const body = run ? make("dl", { class: "facts" }, ...resultFacts(run, "AB"[number])) : make("p", { class: "soft" }, this.shown.models[number].error);
      return make("div", {}, name, body);
    });
    show($("results"), ...results);
    this.planes.forEach((plane, number) => {
      const choice = this.shownScene.models[number];
      if (!choice) return;
      const name = this.runs.length === 2 ? `Model ${"AB"[number]}: ` : "";
      const kernel = choice.estimator === "KernelPerceptron" ? `${choice.kernel} kernel, ` : "";
      const held = `${kernel}rule ${choice.rule}, readout ${choice.readout}`;
      say(plane.figure.querySelector(".caption-model"), this.runs[number] ? `${name}${held}` : `${name}${this.shown.models[number].error}`);
      const axes = this.shown.plane && !this.editable ? `across: ${this.shown.plane.names[0]}; up: ${this.shown.plane.names[1]}` : this.editable && this.scene.names[0] !== "x1" ? `across: ${this.scene.names[0]}; up: ${this.scene.names[1]}` : "";
      say(plane.figure.querySelector(".caption-axes"), axes);
    });
    proof.drawBound(this.run);
    proof.drawProof(this);
    if (this.whole) proof.drawErrors(this);
    this.drawPosition();
  }

  /** The controls that depend on the scene. */
  drawControls() {
    const two = this.scene.models.length === 2;
    $("planes").className = two ? "two" : "one";
    $("plane-B").hidden = !two;
    $("deleting").setAttribute("aria-pressed", String(this.deleting));
    drawChoices(this);
    drawClasses(this, icon);
  }

  // -- listening --------------------------------------------------------------------------------------------

  wire() {
    const click = (id, act) => $(id).addEventListener("click", act);
    $("sets").addEventListener("change", () => {
      if ($("sets").value) this.load($("sets").value);
      $("sets").value = "";
    });
    click("clear", () => this.take({ rows: [], labels: [], classes: usualClasses(2), names: ["x1", "x2"] }));
    click("undo", () => this.undo());
    click("redo", () => this.undo(true));
    click("compare", () => this.compare());
    click("model-A", () => this.activate(0));
    click("model-B", () => this.activate(1));
    click("deleting", () => {
      this.deleting = !this.deleting;
      this.drawControls();
      this.tell(this.deleting ? "Click points to delete them." : "Click the plane to add points.");
    });
    click("message-close", () => ($("message").hidden = true));
    click("bias-off", () => this.choose({ ...this.scene.models[this.active], fit_intercept: false }));
    const zoom = (factor) => {
      for (const plane of this.planes) plane.view = plane.view?.zoomed(factor);
      this.redraw();
    };
    click("zoom-in", () => zoom(1 / 1.4));
    click("zoom-out", () => zoom(1.4));
    click("fit", () => {
      for (const plane of this.planes) plane.fit();
      this.redraw();
    });
    for (const name of Object.keys(this.layers)) {
      $(`layer-${name}`).addEventListener("change", (event) => {
        this.layers[name] = event.target.checked;
        this.redraw();
      });
    }
    $("held_out").addEventListener("change", () => {
      const share = Math.min(0.9, Math.max(0, Number($("held_out").value) / 100 || 0));
      this.history.keep(this.scene);
      this.scene = { ...this.scene, held_out: share };
      this.changed();
    });
    document.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "range" && event.target.type !== "checkbox";
      if (typing || !(event.ctrlKey || event.metaKey) || document.querySelector("dialog[open]")) return;
      const key = event.key.toLowerCase();
      if (key !== "z" && key !== "y") return;
      event.preventDefault();
      this.undo(key === "y" || event.shiftKey);
    });
    window.addEventListener("hashchange", () => location.hash !== this.written && this.fromAddress());
    new ResizeObserver(() => this.redraw()).observe($("planes"));
    this.theme();
  }

  theme() {
    const choose = (name) => {
      if (name === "auto") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = name;
      this.redraw();
    };
    $("theme").value = localStorage.getItem("theme") ?? "auto";
    choose($("theme").value);
    $("theme").addEventListener("change", () => {
      localStorage.setItem("theme", $("theme").value);
      choose($("theme").value);
    });
  }
}

window.lab = new App();
window.lab.CHOICE = CHOICE;
