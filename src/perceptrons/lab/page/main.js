// The lab: a scene, what the library makes of it, and the position in time that all panels show.

import { drawChoices, drawClasses } from "./choices.js";
import * as data from "./data.js";
import { Editor } from "./editing.js";
import { Lessons } from "./lessons.js";
import { Link, Newest } from "./link.js";
import { icon } from "./marks.js";
import { drawTable, resultFacts, sentence, updateLines } from "./numbers.js";
import { Plane } from "./plane.js";
import * as proof from "./proof.js";
import { Run } from "./run.js";
import { CHOICE, copy, fromFragment, toFragment } from "./scene.js";
import { drawDual, drawStep, drawWeights } from "./spaces.js";
import * as take from "./take.js";
import { Clock } from "./time.js";
import { wire } from "./wiring.js";
import { $, colour, count, counted, framed, make, say, show } from "./words.js";

class App extends Editor {
  constructor() {
    super();
    this.shown = null; // the last answer
    this.runs = []; // of each model; null if it cannot be trained
    this.at = 0; // position in the run of the active model
    this.follows = true; // whether the position stays at the end when the run changes
    this.held = new Set();
    this.layers = { w: true, band: true, x: false, certificate: true };
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
    wire(this);
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
      const why = event === "refused" ? content : "The lab does not answer. Is it still running?";
      say($("status"), `${why} Trying again…`);
    }
  }

  /** What the page shows first: the scene in the address, the file of the command, or two clouds. */
  async first(welcome) {
    this.begun = true;
    show(
      $("sets"),
      make("option", { value: "" }, "your own points"),
      ...welcome.sets.map(({ name, title, about }) => make("option", { value: name, title: about }, title)),
    );
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
    document.querySelector("main").classList.toggle("is-stale", Boolean(answer.error));
    if (answer.error) {
      this.tell(answer.error, true, Infinity);
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
    if (this.fits) {
      this.fits = false;
      for (const plane of this.planes) plane.fit();
    }
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

  /** The position to show: while a point is dragged, the end. */
  get now() {
    return this.whole ? this.at : (this.run?.end ?? 0);
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
    return Array.from({ length: 6 }, (_, c) => colour(`--c${c}`).match(/\d+/g).slice(0, 3).map(Number));
  }

  /** Tell screen readers; `visible`: and everybody. */
  tell(text, visible = false, seconds = 12) {
    say($("live"), text);
    if (!visible) return;
    say($("message-text"), text);
    $("message").hidden = false;
    clearTimeout(this.messageTimer);
    if (seconds < Infinity) this.messageTimer = setTimeout(() => ($("message").hidden = true), 1000 * seconds);
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
    if (number === this.active || !this.run || !this.runs[number])
      return number === this.active ? this.at : (this.runs[number]?.end ?? 0);
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
      if (run?.asks) {
        const { field, view } = plane;
        const stale =
          field?.run !== run ||
          field.at !== at ||
          field.view[0] !== view?.left ||
          field.view[3] !== view?.top ||
          field.view[1] !== view?.right;
        if (stale) this.looking[number].please({ run, at });
      }
    });
  }

  /** Everything that depends on the position. */
  drawPosition() {
    const { run, at } = this;
    say($("position"), this.positionText());
    if (!this.whole) return;
    const scrub = $("scrub");
    scrub.max = run?.end ?? 0;
    scrub.value = at;
    scrub.setAttribute("aria-valuetext", run ? `update ${run.madeAt(at)} of ${run.n_updates}` : "nothing to show");
    const focused = document.activeElement;
    for (const id of ["to-start", "back"]) $(id).disabled = !run || at === 0;
    for (const id of ["step-on", "next-mistake", "to-end"]) $(id).disabled = !run || at === run.end;
    $("play").disabled = !run || run.end === 0;
    if (focused?.disabled) scrub.focus(); // not lost
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
    const passes = counted(run.n_iter, "pass", "passes");
    if (!this.whole) return `${counted(run.n_updates, "update")} in ${passes}: ${run.stop}.`;
    if (at === 0) return `Start: ${counted(run.n_updates, "update")} to come, in ${passes}.`;
    const end = at === run.end ? ` ${run.stop[0].toUpperCase()}${run.stop.slice(1)}.` : "";
    const row = run.row[at - 1] < 0 ? "" : `, point ${run.row[at - 1]}`;
    return `Update ${count(run.madeAt(at))} of ${count(run.n_updates)}, pass ${count(run.passOf(at))} of ${count(run.n_iter)}${row}.${end}`;
  }

  /** Everything that depends on the answer. */
  drawAll() {
    proof.drawVerdicts(this);
    const results = this.runs.map((run, number) => {
      const name = this.runs.length === 2 ? make("h3", {}, `Model ${"AB"[number]}`) : null;
      const body = run
        ? make("dl", { class: "facts" }, ...resultFacts(run, "AB"[number]))
        : make("p", { class: "soft" }, this.shown.models[number].error);
      return make("div", {}, name, body);
    });
    show($("results"), ...results);
    this.planes.forEach((plane, number) => {
      const choice = this.shownScene.models[number];
      if (!choice) return;
      const name = this.runs.length === 2 ? `${"AB"[number]}: ` : "";
      const held = captionOf(choice, this.shownScene.models[1 - number]);
      say(
        plane.figure.querySelector(".caption-model"),
        this.runs[number] ? `${name}${held}` : `${name}${this.shown.models[number].error}`,
      );
      const axes =
        this.shown.plane && !this.editable
          ? `across: ${this.shown.plane.names[0]}${this.shown.plane.names[1] ? `; up: ${this.shown.plane.names[1]}` : ""}`
          : this.editable && this.scene.names[0] !== "x1"
            ? `across: ${this.scene.names[0]}; up: ${this.scene.names[1]}`
            : "";
      say(plane.figure.querySelector(".caption-axes"), axes);
    });
    const kernel = Boolean(this.run?.kernel);
    for (const name of ["w", "band"]) $(`layer-${name}`).disabled = kernel || (this.run?.vectors ?? 1) > 1;
    $("layer-certificate").disabled = kernel;
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
}

/** What a model is; beside another one, what differs. */
function captionOf(choice, other) {
  if (!other) {
    const kernel = choice.estimator === "KernelPerceptron" ? `${choice.kernel} kernel, ` : "";
    return `${kernel}rule ${choice.rule}, readout ${choice.readout}`;
  }
  const words = { fit_intercept: "bias", max_iter: "passes", eta0: "η", random_state: "seed", init: "start" };
  const differs = Object.keys(choice).filter((name) => JSON.stringify(choice[name]) !== JSON.stringify(other[name]));
  const told = (value) =>
    value === true
      ? "yes"
      : value === false
        ? "no"
        : value === null
          ? "none"
          : typeof value === "object"
            ? JSON.stringify(value)
            : value;
  return differs.map((name) => `${words[name] ?? name} ${told(choice[name])}`).join(", ") || "the same model";
}

window.lab = new App();
window.lab.CHOICE = CHOICE;
