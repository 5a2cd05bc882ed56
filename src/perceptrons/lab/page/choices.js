// The choices of a model: every rule and readout of the library, and what else `fit` takes.

import { CHOICE } from "./scene.js";
import { $, count, counted, label, make, say, show } from "./words.js";

const READOUTS = {
  last: "The w after the last update.",
  averaged: "The mean of w over all points seen.",
  voted: "All hypotheses vote, each as often as it was right.",
  pocket: "Of the w that it tries, the one with the fewest mistakes on all training points.",
};
const ORDERS = { given: "as given", shuffled: "shuffled each pass", sorted: "sorted by class" };
const TIES = { mistake: "a score of 0 is a mistake", positive: "a score of 0 predicts the second class" };
const STARTS = { zeros: "zeros", random: "random" };
const POLICIES = {
  random: "remove a random point",
  forgetron: "shrink all, remove the oldest",
  projectron: "project steps onto the points kept",
  "projectron++": "the same, also for small margins",
};

/** A labelled field; `help` is shown below it. */
function field(id, name, control, help = "") {
  control.id = id;
  if (help) control.setAttribute("aria-describedby", `${id}-help`);
  return make(
    "div",
    { class: "field" },
    make("label", { for: id }, name),
    control,
    help ? make("p", { class: "help", id: `${id}-help` }, help) : null,
  );
}

function choose(options, value, changed) {
  const select = make("select", { onchange: () => changed(select.value) });
  for (const [name, text, disabled] of options)
    select.append(make("option", { value: name, selected: name === value, disabled }, text));
  return select;
}

function input(value, changed, attributes = {}) {
  const element = make("input", { type: "number", step: "any", value, ...attributes });
  element.addEventListener("change", () => {
    const found = element.value.trim() === "" ? NaN : Number(element.value);
    if (Number.isFinite(found)) changed(found);
    else element.value = value;
  });
  return element;
}

function tick(id, name, value, changed) {
  const box = make("input", { type: "checkbox", id, checked: value, onchange: () => changed(box.checked) });
  return make("div", { class: "field tick" }, box, make("label", { for: id }, name));
}

/** Draw the form of the active model. It is drawn anew after each change; the focus stays where it was. */
export function drawChoices(app) {
  const { welcome } = app.link;
  const choice = app.scene.models[app.active];
  const kernel = choice.estimator === "KernelPerceptron";
  const set = (change) => app.choose({ ...choice, ...change });
  const rule = welcome.rules.find((each) => each.name === choice.rule);
  const focused = document.activeElement?.id;
  const n = Math.max(1, app.scene.rows.length);
  const most = Math.floor(welcome.limits.visits / n);
  const parts = [
    field(
      "estimator",
      "Model",
      choose(
        [
          ["Perceptron", "linear"],
          ["KernelPerceptron", "with a kernel"],
        ],
        choice.estimator,
        (estimator) => set({ estimator }),
      ),
    ),
    field(
      "rule",
      "Rule",
      choose(
        welcome.rules.map((each) => [each.name, each.name, kernel && !each.kernels]),
        choice.rule,
        (name) => set({ rule: name, params: {} }),
      ),
      rule.about.split("\n")[0].replace(/ A weight [^.]*\./, ""), // of an example: points here have none
    ),
    ...rule.parameters.map((each) => parameter(each, choice, set)),
    field(
      "readout",
      "Readout: which w predicts",
      choose(
        welcome.readouts.map((name) => [name, name, name === "voted" && !rule.voted]),
        choice.readout,
        (readout) => set({ readout }),
      ),
      READOUTS[choice.readout],
    ),
    tick("fit_intercept", "bias b", choice.fit_intercept, (on) => set({ fit_intercept: on })),
    ...(kernel ? kernelFields(welcome, choice, set) : []),
    field(
      "order",
      "Order of the points",
      choose(Object.entries(ORDERS), choice.order, (order) => set({ order })),
    ),
    choice.order === "shuffled" || choice.init === "random" || (kernel && choice.policy === "random")
      ? field(
          "random_state",
          "Seed",
          input(choice.random_state, (value) => set({ random_state: Math.max(0, Math.round(value)) }), {
            min: 0,
            step: 1,
          }),
        )
      : null,
    field(
      "max_iter",
      "Passes, at most",
      input(
        choice.max_iter,
        (value) => {
          if (value > most)
            app.tell(
              `The lab records every update, so that points times passes are at most ${count(welcome.limits.visits)}: with ${counted(n, "point")}, at most ${counted(most, "pass", "passes")}.`,
              true,
            );
          set({ max_iter: Math.min(most, Math.max(1, Math.round(value))) });
        },
        {
          min: 1,
          max: most,
          step: 1,
        },
      ),
    ),
    tick("tol", "give up when the margin is proved to be below 0.1 % of R", choice.tol !== null, (on) =>
      set({ tol: on ? CHOICE.tol : null }),
    ),
    make(
      "details",
      { class: "more", open: app.moreChoices, ontoggle: (event) => (app.moreChoices = event.target.open) },
      make("summary", {}, "Step length, start, ties"),
      field(
        "eta0",
        "η, the length of a step",
        input(choice.eta0, (eta0) => set({ eta0 }), { min: 0 }),
      ),
      kernel
        ? null
        : field(
            "init",
            "Start",
            choose(Object.entries(STARTS), choice.init, (init) => set({ init })),
          ),
      field(
        "tie",
        "Ties",
        choose(Object.entries(TIES), choice.tie, (tie) => set({ tie })),
      ),
    ),
  ];
  show($("form"), ...parts);
  if (focused) $(focused)?.focus({ preventScroll: true });
  drawModels(app);
}

function parameter(each, choice, set) {
  const value = choice.params[each.name] ?? each.default;
  const change = (found) => {
    const params = { ...choice.params, [each.name]: found };
    if (found === each.default) delete params[each.name];
    set({ params });
  };
  const id = `param-${each.name}`;
  if (each.choices)
    return field(
      id,
      each.name,
      choose(
        each.choices.map((name) => [name, name]),
        value,
        change,
      ),
      each.about,
    );
  if (typeof each.default === "boolean") return tick(id, `${each.name}: ${each.about}`, value, change);
  return field(id, each.name, input(value, change), each.about);
}

function kernelFields(welcome, choice, set) {
  const used = welcome.uses[choice.kernel] ?? [];
  const about = (welcome.kernels[choice.kernel] ?? "").split(/(?<=\.) /)[0];
  const numbers = { gamma: "γ", degree: "degree", coef0: "c" };
  const fields = [
    field(
      "kernel",
      "Kernel",
      choose(
        Object.keys(welcome.kernels).map((name) => [name, name]),
        choice.kernel,
        (kernel) => set({ kernel }),
      ),
      about,
    ),
  ];
  for (const name of used) {
    const whole = name === "degree";
    fields.push(
      field(
        name,
        numbers[name],
        input(
          choice[name],
          (value) => set({ [name]: whole ? Math.max(0, Math.round(value)) : value }),
          whole ? { min: 0, step: 1 } : {},
        ),
      ),
    );
  }
  fields.push(
    tick("budgeted", "keep only a few points (a budget)", choice.budget !== null, (on) =>
      set({ budget: on ? 10 : null }),
    ),
  );
  if (choice.budget !== null) {
    fields.push(
      field(
        "budget",
        "Points kept, at most",
        input(choice.budget, (value) => set({ budget: Math.max(1, Math.round(value)) }), { min: 1, step: 1 }),
      ),
    );
    fields.push(
      field(
        "policy",
        "When it is full",
        choose(
          welcome.policies.map((name) => [name, name]),
          choice.policy,
          (policy) => set({ policy }),
        ),
        POLICIES[choice.policy],
      ),
    );
  }
  return fields;
}

/** The tabs of the models, and the buttons that add or remove the second one. */
function drawModels(app) {
  const two = app.scene.models.length === 2;
  $("model-tabs").hidden = !two;
  ["A", "B"].forEach((name, k) => {
    $(`model-${name}`).setAttribute("aria-pressed", String(app.active === k));
  });
  say($("compare"), two ? "Remove model B" : "Compare with a second model");
}

/** The class that the next point gets: one button for each class, and one that adds a class. */
export function drawClasses(app, icon) {
  const { classes } = app.scene;
  const buttons = classes.map((value, code) =>
    make(
      "button",
      {
        type: "button",
        class: "class",
        id: `class-${code}`,
        "aria-pressed": String(app.code === code && !app.deleting),
        onclick: () => app.chooseClass(code),
      },
      icon(code),
      make("span", {}, label(value, classes)),
    ),
  );
  const more = app.mayAddClass()
    ? make(
        "button",
        {
          type: "button",
          class: "class",
          onclick: () => app.addClass(),
          "aria-label": "add a class",
          title: "add a class",
        },
        "+",
      )
    : null;
  const focused = document.activeElement?.id;
  show($("classes"), ...buttons, more);
  if (focused?.startsWith("class-")) $(focused)?.focus();
}
