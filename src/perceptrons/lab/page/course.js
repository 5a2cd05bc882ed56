// The eight lessons. Answers and explanations are computed from what the library did, not written down.

import { counted, number, percent, vector } from "./words.js";

const weights = (app, at) => app.run.weights(at)[0];
const errors = (run) => Math.round(run.training_error * run.n_rows);

const TRIANGLE = {
  rows: [
    [2, 1],
    [-1, 2],
    [-2, -1],
    [1, -2],
  ],
  labels: [1, 0, 0, 1],
  models: [{ fit_intercept: false }],
};
const CROSSING = {
  rows: [
    [2, 1],
    [1, 2],
    [-2, -2],
    [-2, 2],
  ],
  labels: [1, 0, 1, 0],
  models: [{ fit_intercept: false }],
};

export const LESSONS = [
  {
    title: "What one update does",
    about: "A mistake pulls w towards the row, or pushes it away.",
    steps: [
      {
        text: [
          "Four points and no bias, so that w = (w1, w2) is all there is. At first w = (0, 0), and every score w·x is 0.",
          "The first row is x = (2, 1) of class +1. Its score is 0, which counts as a mistake, so there is an update: w ← w + y·x.",
        ],
        scene: CROSSING,
        at: 0,
        ask: {
          question: "What is w after the first update?",
          options: ["(2, 1)", "(−2, −1)", "(0, 0)"],
          then: 1,
          answer: (app) =>
            [
              [2, 1],
              [-2, -1],
              [0, 0],
            ].findIndex(([a, b]) => weights(app, 1)[0] === a && weights(app, 1)[1] === b),
          why: (app) =>
            `w + y·x = (0, 0) + (+1)·(2, 1) = ${vector(weights(app, 1).slice(0, -1))}. The boundary is now at right angles to this row.`,
        },
      },
      {
        text: [
          "The next row in trouble is row 1, x = (1, 2) of class −1: its score is above 0, so w·x says +1.",
          "An update for y = −1 subtracts the row: w ← w − x.",
        ],
        ask: {
          question: "How does the score of this row change?",
          options: ["It falls by ‖x‖² = 5.", "It rises by ‖x‖² = 5.", "It becomes 0."],
          then: 1,
          answer: (app) => (app.run.after[1] > app.run.before[1] ? 0 : 1),
          why: (app) =>
            `The margin y·w·x went from ${number(app.run.before[1])} to ${number(app.run.after[1])}: up by ‖x‖² = 5. An update always moves the score of its own row in the right direction. It need not be enough, and it may spoil other rows.`,
        },
      },
      {
        text: ["Look at “The step as vectors”, and at “This update” below the plane: the formula with its numbers."],
        task: {
          text: "press Step until the run ends.",
          done: (app) => app.at === app.run.end && app.at > 0,
          why: "A whole pass without a mistake ends the training.",
        },
      },
    ],
  },
  {
    title: "Why a zero score counts as a mistake",
    about: "From zeros, a strict test would never start.",
    steps: [
      {
        text: [
          "At the start w = 0 and b = 0, so that every margin m = y·(w·x + b) is 0. The perceptron updates when m ≤ 0.",
        ],
        scene: { set: "or" },
        at: 0,
        ask: {
          question: "If it updated only when m < 0, how many updates would it make?",
          options: ["None, ever", "One", "As many as now"],
          answer: (app) => (app.run.before[0] < 0 ? 2 : 0),
          why: (app) =>
            `The first margin is ${number(app.run.before[0])}, not below 0, and so are all the others: w would stay 0 for ever, without a single “mistake”.`,
        },
      },
      {
        text: [
          "The other convention in use: a score of 0 predicts the second class, +1, in training and in prediction alike. Model B does that. Both models see the same points of OR.",
        ],
        scene: { set: "or", models: [{}, { tie: "positive" }] },
        at: "end",
        ask: {
          question: "Do both models separate the points?",
          options: ["Yes, both", "Only A", "Only B"],
          answer: (app) => (app.runs[0].converged ? (app.runs[1].converged ? 0 : 1) : 2),
          why: (app) =>
            `A made ${counted(app.runs[0].n_updates, "update")}, B ${counted(app.runs[1].n_updates, "update")}. Either convention is fine, as long as some rows at 0 count as wrong.`,
        },
      },
    ],
  },
  {
    title: "Margin and speed",
    about: "The thinner the gap, the more updates.",
    steps: [
      {
        text: ["Two clouds with a wide gap. The margin is the distance from the best line to the nearest point."],
        scene: { set: "clouds" },
        at: "end",
        ask: {
          question: "How many updates does the perceptron need here?",
          options: ["Fewer than 20", "20 to 100", "More than 100"],
          answer: (app, memory) => {
            memory.wide = app.run.n_updates;
            return memory.wide < 20 ? 0 : memory.wide <= 100 ? 1 : 2;
          },
          why: (app) =>
            `It made ${counted(app.run.n_updates, "update")}. The largest margin is ${app.verdict().shown_margin}.`,
        },
      },
      {
        text: ["Now two rows of points with a thin gap between them, of about the same size."],
        scene: { set: "thin", models: [{ max_iter: 1000 }] },
        at: "end",
        ask: {
          question: "And here?",
          options: ["About as many", "Up to ten times as many", "More than ten times as many"],
          answer: (app, memory) =>
            app.run.n_updates <= 2 * memory.wide ? 0 : app.run.n_updates <= 10 * memory.wide ? 1 : 2,
          why: (app, memory) =>
            `${counted(app.run.n_updates, "update")} instead of ${memory.wide}, because the margin is only ${app.verdict().shown_margin}. The theorem allows up to (R/γ)² updates: half the margin, four times the bound.`,
        },
      },
      {
        text: [
          "Does it matter how far away the points are? Model A learns the four points of the first lesson, without a bias.",
          "Imagine the same points, ten times as far from the origin.",
        ],
        scene: TRIANGLE,
        at: "end",
        ask: {
          question: "Will it need more updates then?",
          options: ["The same number", "Ten times as many", "A hundred times as many"],
          answer: (app, memory) => {
            memory.near = app.run.n_updates;
            return 0;
          },
          why: (app) =>
            `Every margin and every row grow by the same factor, so that R/γ stays: only the shape counts. The next step shows it. Here: ${counted(app.run.n_updates, "update")}.`,
        },
      },
      {
        text: ["The points ten times as far away."],
        scene: { ...TRIANGLE, rows: TRIANGLE.rows.map((row) => row.map((x) => 10 * x)) },
        at: "end",
        task: {
          text: "compare the number of updates.",
          done: (app, memory) => app.scene.rows[0][0] === 20 && app.whole && app.run.n_updates === memory.near,
          why: "It is the same.",
        },
      },
    ],
  },
  {
    title: "The convergence proof",
    about: "Two lines that cannot go on for ever.",
    steps: [
      {
        text: [
          "Let w* be the best separator, of length 1, with margin γ. Each update adds at least γ to w*·w. So after k updates w*·w ≥ k·γ.",
          "And each update adds at most R² to ‖w‖², because the row was wrong: ‖w + y·x‖² = ‖w‖² + 2m + ‖x‖² with m ≤ 0. So ‖w‖² ≤ k·R².",
        ],
        scene: { set: "thin", models: [{ max_iter: 1000 }] },
        at: 0,
        ask: {
          question: "w*·w grows like k. How fast can the length ‖w‖ grow, at most?",
          options: ["Like √k", "Like k", "Like k²"],
          then: "end",
          answer: () => 0,
          why: (app) =>
            `‖w‖ ≤ √k·R. But w*·w ≤ ‖w‖, since w* has length 1. A line that grows like k cannot stay below one that grows like √k. Here k = ${app.run.n_updates}: k·γ = ${number(app.run.n_updates * app.run.proof.gamma)}, and √k·R = ${number(Math.sqrt(app.run.n_updates) * app.run.proof.radius)}.`,
        },
      },
      {
        text: [
          "The cosine of the angle between w and w* is w*·w/‖w‖, and therefore at least √k·γ/R. No cosine is above 1.",
          "“Why it must stop” draws the three curves, measured and proved.",
        ],
        ask: {
          question: "So how many updates can there be?",
          options: ["At most (R/γ)²", "At most R/γ", "There is no limit"],
          answer: () => 0,
          why: (app) =>
            `√k·γ/R ≤ 1 means k ≤ (R/γ)² = ${app.run.proof.max_updates} here. The run made ${app.run.n_updates}.`,
        },
      },
      {
        text: [
          "The bound holds for every order of the rows. Let us see whether the order matters for the number of updates.",
        ],
        task: {
          text: "under “Model”, set the order of the rows to shuffled, and look at the bound.",
          done: (app) => app.scene.models[0].order === "shuffled" && app.whole && app.run.choice.order === "shuffled",
          why: "Another order, another number of updates; the bound is the same, and it holds.",
        },
      },
    ],
  },
  {
    title: "What the bias is worth",
    about: "Without it, every boundary goes through the origin.",
    steps: [
      {
        text: [
          "Two clouds on the same side of the origin. The model has no bias: its boundary w·x = 0 always passes through the origin.",
        ],
        scene: { set: "offset", models: [{ fit_intercept: false, max_iter: 50 }] },
        at: "end",
        ask: {
          question: "Can such a line separate the clouds?",
          options: ["No", "Yes"],
          answer: (app) => Number(app.shown.verdicts.find((each) => !each.fit_intercept).separable),
          why: (app) =>
            `The verdict is proved: rows ${(app.shown.verdicts.find((each) => !each.fit_intercept).irreducible ?? []).join(", ")} cannot be separated through the origin. They are ringed.`,
        },
      },
      {
        text: [
          "A bias b is one more weight, of a feature that is always 1. The rows become (x, 1), one dimension higher, and there they can be separated through the origin.",
        ],
        task: {
          text: "switch the bias on.",
          done: (app) => app.scene.models[0].fit_intercept && app.whole && app.run.converged,
          why: "The perceptron separates the clouds now.",
        },
      },
      {
        text: [
          "With the bias as a weight, the margin that counts in the bound is that of the longer rows (x, 1). Rows far from the origin make it small.",
        ],
        ask: {
          question: "What makes training faster here?",
          options: ["Moving all points so that their mean is the origin", "Moving them further away", "Nothing can"],
          answer: () => 0,
          why: (app) =>
            `The bound is (R/γ)²; R is the length of the longest row, ${number(app.run.proof.radius)} here. Centring the rows makes R smaller. Try it: drag both clouds to the origin.`,
        },
      },
    ],
  },
  {
    title: "Recency and averaging",
    about: "The last w remembers the last rows best.",
    steps: [
      {
        text: [
          "Rows sorted by class: first all of −1, then all of +1, and one pass. Model A predicts with the last w, model B with the mean of all w.",
        ],
        scene: {
          set: "recency",
          models: [
            { max_iter: 1, order: "sorted" },
            { max_iter: 1, order: "sorted", readout: "averaged" },
          ],
        },
        at: 0,
        ask: {
          question: "Which makes fewer mistakes on these points?",
          options: ["B, the average", "A, the last w", "Both the same"],
          then: "end",
          answer: (app) =>
            errors(app.runs[1]) < errors(app.runs[0]) ? 0 : errors(app.runs[1]) > errors(app.runs[0]) ? 1 : 2,
          why: (app) =>
            `A: ${percent(app.runs[0].training_error)}, B: ${percent(app.runs[1].training_error)} of the points are wrong.`,
        },
      },
      {
        text: ["Now shuffled rows, ten passes. The points overlap, so that w never comes to rest."],
        scene: {
          set: "recency",
          models: [
            { max_iter: 10, order: "shuffled", tol: null },
            { max_iter: 10, order: "shuffled", tol: null, readout: "averaged" },
          ],
          held_out: 0.3,
        },
        at: "end",
        ask: {
          question: "Which is better on the held-out points, which no model has seen?",
          options: ["B, the average", "A, the last w", "Both the same"],
          answer: (app) =>
            app.runs[1].validation_error < app.runs[0].validation_error
              ? 0
              : app.runs[1].validation_error > app.runs[0].validation_error
                ? 1
                : 2,
          why: (app) =>
            `Held out: A ${percent(app.runs[0].validation_error)}, B ${percent(app.runs[1].validation_error)}. The average changes little from row to row; the last w depends on which row came last. Play the run and watch both boundaries.`,
        },
      },
    ],
  },
  {
    title: "XOR, features and kernels",
    about: "When no line will do, change the space.",
    steps: [
      {
        text: ["The four points of XOR: equal corners are −1, different ones +1."],
        scene: { set: "xor", models: [{ max_iter: 30, tol: null }] },
        at: "end",
        ask: {
          question: "Will the perceptron find a line?",
          options: ["No, there is none", "Yes, after many passes"],
          answer: (app) => Number(app.shown.verdicts[0].separable),
          why: (app) =>
            `The hulls of the classes meet at ${vector(app.shown.verdicts[0].point)}: this point would have to be on both sides. After ${app.run.n_iter} passes, ${app.run.mistakes.at(-1)} of 4 rows are still mistakes in each.`,
        },
      },
      {
        text: [
          "Give each row one more feature: the product x1·x2. Then there are three weights, and the picture shows the plane of w.",
        ],
        scene: {
          rows: [
            [0, 0, 0],
            [0, 1, 0],
            [1, 0, 0],
            [1, 1, 1],
          ],
          labels: [0, 1, 1, 0],
          names: ["x1", "x2", "x1·x2"],
        },
        at: "end",
        ask: {
          question: "Can a plane separate them now?",
          options: ["Yes", "No"],
          answer: (app) => Number(!app.shown.verdicts[0].separable),
          why: (app) =>
            `With margin ${app.shown.verdicts[0].shown_margin}. The perceptron found w = ${vector(app.run.coef[0])}, b = ${number(app.run.intercept[0])}, in ${counted(app.run.n_updates, "update")}.`,
        },
      },
      {
        text: [
          "A kernel does this for you. It computes inner products in a space of many features without ever making them. The polynomial kernel of degree 2 contains the product x1·x2.",
        ],
        scene: { set: "xor" },
        at: "end",
        task: {
          text: "under “Model”, choose “with a kernel”, and then the kernel poly.",
          done: (app) => app.whole && app.run.kernel && app.run.choice.kernel === "poly" && app.run.converged,
          why: "The boundary is curved in the plane, and flat in the kernel's feature space. The dual view shows which rows it is made of.",
        },
      },
    ],
  },
  {
    title: "Mistakes on inseparable data",
    about: "It never comes to rest, but it does not go astray.",
    steps: [
      {
        text: ["Two clouds that overlap, and 30 passes."],
        scene: { set: "noise", models: [{ max_iter: 30, tol: null }] },
        at: "end",
        ask: {
          question: "Do the mistakes of a pass fall to 0?",
          options: ["No, they go up and down", "Yes, slowly"],
          answer: (app) => Number(app.run.converged),
          why: (app) =>
            `In the last pass it made ${counted(app.run.mistakes.at(-1), "mistake")}, in the best one ${Math.min(...app.run.mistakes)}. No line separates these points, so no pass is without a mistake. See “Errors, pass by pass”.`,
        },
      },
      {
        text: [
          "Even so, there is a theorem: for any w, the mistakes of one pass are bounded by how far w is from separating the rows (Freund & Schapire 1999, Gentile 2003).",
        ],
        ask: {
          question: "Did the first pass keep to the bound?",
          options: ["Yes", "No"],
          answer: (app) => Number(app.run.bound.made > app.run.bound.bound),
          why: (app) =>
            `${counted(app.run.bound.made, "mistake")} in the first pass; the theorem allows ${Math.floor(app.run.bound.bound)}.`,
        },
      },
      {
        text: [
          "The last w is as good as chance made it. The pocket readout keeps the w with the fewest mistakes on all points.",
        ],
        scene: {
          set: "noise",
          models: [
            { max_iter: 30, tol: null },
            { max_iter: 30, tol: null, readout: "pocket" },
          ],
        },
        at: "end",
        ask: {
          question: "Can the pocket make more training errors than the last w?",
          options: ["No, never", "Yes, by bad luck"],
          answer: (app) => Number(errors(app.runs[1]) > errors(app.runs[0])),
          why: (app) =>
            `A, the last w: ${percent(app.runs[0].training_error)} wrong. B, the pocket: ${percent(app.runs[1].training_error)}. The pocket tries a hypothesis on all points before it keeps it.`,
        },
      },
    ],
  },
];
