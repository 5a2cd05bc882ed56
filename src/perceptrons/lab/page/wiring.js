// What buttons and keys do.

import { CHOICE, usualClasses } from "./scene.js";
import { $ } from "./words.js";

export function wire(app) {
  const click = (id, act) => $(id).addEventListener("click", act);
  $("sets").addEventListener("change", () => {
    if ($("sets").value) app.load($("sets").value);
  });
  click("clear", () => app.take({ rows: [], labels: [], classes: usualClasses(2), names: ["x1", "x2"] }));
  click("undo", () => app.undo());
  click("redo", () => app.undo(true));
  click("compare", () => app.compare());
  click("usual", () => app.choose({ ...CHOICE }));
  click("model-A", () => app.activate(0));
  click("model-B", () => app.activate(1));
  click("deleting", () => {
    app.deleting = !app.deleting;
    app.drawControls();
    app.tell(app.deleting ? "Click points to delete them." : "Click the plane to add points.");
  });
  click("message-close", () => ($("message").hidden = true));
  click("bias-off", () => app.choose({ ...app.scene.models[app.active], fit_intercept: false }));
  const zoom = (factor) => {
    for (const plane of app.planes) {
      plane.view = plane.view?.zoomed(factor);
      plane.zoomed = true;
    }
    app.redraw();
  };
  click("zoom-in", () => zoom(1 / 1.4));
  click("zoom-out", () => zoom(1.4));
  click("fit", () => {
    app.fit();
    app.redraw();
  });
  for (const name of Object.keys(app.layers)) {
    $(`layer-${name}`).addEventListener("change", (event) => {
      app.layers[name] = event.target.checked;
      app.redraw();
    });
  }
  $("held_out").addEventListener("change", () => {
    const share = Math.min(0.9, Math.max(0, Number($("held_out").value) / 100 || 0));
    app.history.keep(app.scene);
    app.scene = { ...app.scene, held_out: share };
    app.changed();
  });
  document.addEventListener("keydown", (event) => {
    const typing =
      /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) &&
      event.target.type !== "range" &&
      event.target.type !== "checkbox";
    if (typing || !(event.ctrlKey || event.metaKey) || document.querySelector("dialog[open]")) return;
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "y") return;
    event.preventDefault();
    app.undo(key === "y" || event.shiftKey);
  });
  window.addEventListener("hashchange", () => location.hash !== app.written && app.fromAddress());
  new ResizeObserver(() => app.redraw()).observe($("planes"));
  chooseTheme(app);
}

function chooseTheme(app) {
  const choose = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    app.redraw();
  };
  $("theme").value = localStorage.getItem("theme") ?? "auto";
  choose($("theme").value);
  $("theme").addEventListener("change", () => {
    localStorage.setItem("theme", $("theme").value);
    choose($("theme").value);
  });
}
