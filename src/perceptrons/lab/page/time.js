// Time: step, play, scrub and rewind over what happened.

import { $, number, say } from "./words.js";

export class Clock {
  constructor(app) {
    this.app = app;
    this.playing = false;
    const on = (id, event, act) => $(id).addEventListener(event, act);
    const go = (at) => {
      this.stop();
      app.goTo(at());
    };
    on("to-start", "click", () => go(() => 0));
    on("to-end", "click", () => go(() => app.run?.end ?? 0));
    on("back", "click", () => go(() => app.at - 1));
    on("step-on", "click", () => go(() => app.at + 1));
    on("next-mistake", "click", () => go(() => app.run?.nextMistake(app.at) ?? 0));
    on("play", "click", () => (this.playing ? this.stop() : this.start()));
    on("speed", "input", () => this.tellSpeed());
    on("scrub", "input", () => {
      this.stop();
      app.goTo(Number($("scrub").value), true);
    });
    on("scrub", "change", () => app.goTo(Number($("scrub").value)));
    for (const plane of app.planes) {
      plane.svg.addEventListener("keydown", ({ key }) => {
        if (key === ".") go(() => app.at + 1);
        if (key === ",") go(() => app.at - 1);
      });
    }
    this.tellSpeed();
  }

  /** Updates a second: from one in two seconds to thousands. */
  get speed() {
    return 0.5 * 10 ** (Number($("speed").value) / 25);
  }

  tellSpeed() {
    say($("speed-text"), `${number(this.speed, 2)} updates a second`);
    $("speed").setAttribute("aria-valuetext", $("speed-text").textContent);
  }

  start() {
    const { app } = this;
    if (!app.run?.end) return;
    if (app.at === app.run.end) app.goTo(0, true);
    this.playing = true;
    this.button();
    let [last, owed] = [performance.now(), 0];
    const tick = (now) => {
      if (!this.playing) return;
      owed += ((now - last) / 1000) * this.speed;
      last = now;
      const steps = Math.floor(owed);
      if (steps > 0) {
        owed -= steps;
        app.goTo(app.at + steps, this.speed > 2);
        if (!app.run || app.at === app.run.end) {
          this.stop();
          return;
        }
      }
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  stop() {
    this.playing = false;
    this.button();
  }

  button() {
    say($("play"), this.playing ? "Pause" : "Play");
    $("play").setAttribute("aria-pressed", String(this.playing));
  }
}
