// Guided lessons: they set the scene, ask what will happen, and then let it happen.

import { LESSONS } from "./course.js";
import { CHOICE, usualClasses } from "./scene.js";
import { $, count, make, show } from "./words.js";

export class Lessons {
  constructor(app) {
    this.app = app;
    this.lesson = null;
    this.number = 0; // of the step
    $("open-lessons").addEventListener("click", () => ($("lesson").hidden ? this.open() : this.close()));
    $("lesson-close").addEventListener("click", () => this.close());
  }

  open() {
    $("lesson").hidden = false;
    $("open-lessons").setAttribute("aria-expanded", "true");
    this.list();
  }

  close() {
    this.leave();
    $("lesson").hidden = true;
    $("open-lessons").setAttribute("aria-expanded", "false");
    $("open-lessons").focus();
  }

  leave() {
    this.lesson = null;
    delete document.body.dataset.asking;
    $("asking").hidden = true;
    this.app.redraw();
  }

  /** All lessons. */
  list() {
    this.leave();
    $("lesson-title").textContent = "Lessons";
    const items = LESSONS.map((lesson, k) =>
      make(
        "li",
        {},
        make(
          "button",
          { type: "button", class: "lesson", id: `lesson-${k + 1}`, onclick: () => this.start(k) },
          make("b", {}, `${k + 1}. ${lesson.title}`),
          make("span", {}, lesson.about),
        ),
      ),
    );
    show(
      $("lesson-body"),
      make(
        "p",
        {},
        "Each lesson sets a scene, asks you to predict what happens, and shows it. Answer before you look.",
      ),
      make("ol", { class: "lessons", role: "list" }, ...items),
    );
    $("lesson-title").focus();
  }

  start(k) {
    this.lesson = LESSONS[k];
    this.which = k;
    this.go(0);
  }

  /** Go to a step, and set its scene: its own, or that of the step before. */
  async go(number) {
    this.number = number;
    this.answered = null;
    this.done = false;
    this.memory ??= {};
    const { steps } = this.lesson;
    const step = steps[number];
    this.staging = true;
    this.draw();
    const scene = steps.slice(0, number + 1).findLast((each) => each.scene)?.scene;
    await this.stage(scene, step.at ?? "end");
    this.staging = false;
    if (this.lesson?.steps[this.number] !== step) return; // the user has gone on
    this.draw();
    $("lesson-title").focus({ preventScroll: true });
    $("lesson").scrollIntoView({ block: "nearest" });
    this.check();
  }

  /** Whether a question is open, so that the page must not give its answer away. */
  get waits() {
    return Boolean(this.lesson?.steps[this.number].ask) && this.answered === null;
  }

  /** Whether the user has changed the scene, so that the question is about something else. */
  get astray() {
    return !this.staging && JSON.stringify(this.app.scene) !== this.staged;
  }

  /** Set the scene: a named set or points, and the choices of one or two models. */
  async stage(scene, at) {
    const { app } = this;
    let points = scene;
    if (scene.set) {
      const answer = await app.link.ask("set", { name: scene.set });
      if (answer.error) return;
      points = { rows: scene.centred ? centred(answer.rows) : answer.rows, labels: answer.labels };
    }
    const models = (scene.models ?? [{}]).map((choice) => ({ ...CHOICE, ...choice }));
    const classes = usualClasses(Math.max(2, ...points.labels.map((code) => code + 1)));
    app.active = 0;
    app.history.keep(app.scene);
    app.scene = {
      rows: points.rows,
      labels: points.labels,
      classes,
      names: scene.names ?? ["x1", "x2"],
      models,
      held_out: scene.held_out ?? 0,
    };
    app.follows = at === "end";
    app.at = at === "end" ? 0 : at;
    app.selected = null;
    this.staged = JSON.stringify(app.scene);
    app.changed({ fits: true, keepsPosition: true });
    while (app.asking.busy) await new Promise((done) => setTimeout(done, 10));
  }

  /** Called after each answer of the library and each change of the position: is the task done? */
  check() {
    if (!this.lesson || this.staging) return;
    if (this.waits && this.astray) this.draw();
    const step = this.lesson.steps[this.number];
    if (step.task && !this.done && this.app.run && step.task.done(this.app, this.memory)) {
      this.done = true;
      this.draw();
    }
  }

  answer(k) {
    if (this.answered !== null || !this.app.whole || this.astray) return;
    const step = this.lesson.steps[this.number];
    this.right = step.ask.answer(this.app, this.memory);
    this.answered = k;
    if (step.ask.then !== undefined)
      this.app.goTo(step.ask.then === "end" ? (this.app.run?.end ?? 0) : this.app.at + step.ask.then, true);
    this.app.draw();
    this.draw();
    $("lesson-next")?.focus({ preventScroll: true });
  }

  draw() {
    const { lesson, number } = this;
    const step = lesson.steps[number];
    document.body.toggleAttribute("data-asking", this.waits);
    $("asking").hidden = !this.waits;
    $("lesson-title").textContent = `${this.which + 1}. ${lesson.title}`;
    const parts = [
      make("p", { class: "soft" }, `Step ${number + 1} of ${count(lesson.steps.length)}`),
      ...step.text.map((text) => make("p", {}, text)),
    ];
    if (step.ask && this.waits && this.astray) parts.push(this.again());
    else if (step.ask) parts.push(...this.question(step.ask));
    if (step.task)
      parts.push(
        make(
          "p",
          { class: this.done ? "right" : "task", role: "status" },
          this.done ? `Done. ${step.task.why ?? ""}` : `To do: ${step.task.text}`,
        ),
      );
    const open = (step.ask && this.answered === null) || (step.task && !this.done);
    const last = number + 1 === lesson.steps.length;
    const next = last ? () => this.list() : () => this.go(number + 1);
    parts.push(
      make(
        "div",
        { class: "tools" },
        number
          ? make("button", { type: "button", id: "lesson-back", onclick: () => this.go(number - 1) }, "Back")
          : null,
        make(
          "button",
          { type: "button", id: "lesson-next", class: "main", disabled: open, onclick: next },
          last ? "Finish the lesson" : "Next",
        ),
        make("button", { type: "button", id: "lesson-list", onclick: () => this.list() }, "All lessons"),
      ),
    );
    show($("lesson-body"), ...parts);
  }

  /** A question about another scene has no answer: offer the way back. */
  again() {
    const button = make(
      "button",
      { type: "button", id: "lesson-again", onclick: () => this.go(this.number) },
      "Set the scene again",
    );
    return make("p", { role: "status" }, "The scene has changed, so the question is about something else. ", button);
  }

  question(ask) {
    const buttons = ask.options.map((text, k) => {
      const shown =
        this.answered === null ? "" : k === this.right ? " is-right" : k === this.answered ? " is-wrong" : "";
      return make(
        "button",
        {
          type: "button",
          class: `option${shown}`,
          id: `option-${k}`,
          "aria-pressed": String(this.answered === k),
          disabled: this.staging,
          onclick: () => this.answer(k),
        },
        text,
      );
    });
    const parts = [make("fieldset", { class: "question" }, make("legend", {}, ask.question), ...buttons)];
    if (this.answered !== null) {
      const right = this.answered === this.right;
      const verdict = right ? "Right." : `Not so: ${ask.options[this.right].replace(/\.$/, "")}.`;
      const text = `${verdict} ${ask.why(this.app, this.memory)}`;
      parts.push(make("p", { class: right ? "right" : "not-right", role: "status", id: "lesson-feedback" }, text));
    }
    return parts;
  }
}

/** The points moved together, so that their mean is the origin. */
function centred(rows) {
  const mean = [0, 1].map((j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);
  return rows.map((row) => row.map((x, j) => Number((x - mean[j]).toFixed(3))));
}
