// The eight lessons. Answers and explanations are computed from what the library did, not written down.
//
// A step without a scene has that of the step before. `at` is the position: 0, a number of updates, or "end".

import { counted, number, percent, vector } from "./words.js";

const weights = (app, at) => app.run.weights(at)[0];
const errors = (run) => Math.round(run.training_error * run.n_rows);
const origin = (app) => app.shown.verdicts.find((each) => !each.fit_intercept);
const least = (a, b) => (a < b ? 0 : a > b ? 1 : 2);

const FOUR = [
  [2, 1],
  [1, 2],
  [-2, -2],
  [-2, 2],
];
const CROSSING = { rows: FOUR, labels: [1, 0, 1, 0], models: [{ fit_intercept: false }] };
const FAR = { ...CROSSING, rows: FOUR.map((row) => row.map((x) => 10 * x)) };
const SQUARE = [
  [0, 0, 0],
  [0, 1, 0],
  [1, 0, 0],
  [1, 1, 1],
];

export const LESSONS = [
  {
    title: "What one update does",
    about: "A mistake pulls w towards the point, or pushes it away.",
    steps: [
      {
        text: [
          "Four points and no bias, so that w = (w1, w2) is all there is. At first w = (0, 0), and every score w·x is 0.",
          "The first point is x = (2, 1) of class +1. Its score is 0, which counts as a mistake, so there is an update: w ← w + y·x.",
        ],
        scene: CROSSING,
        at: 0,
        ask: {
          question: "What is w after the first update?",
          options: ["(2, 1)", "(−2, −1)", "(0, 0)"],
          then: 1,
          answer: (app) => [2, -2, 0].indexOf(weights(app, 1)[0]),
          why: (app) =>
            `w + y·x = (0, 0) + (+1)·(2, 1) = ${vector(weights(app, 1).slice(0, -1))}. The boundary is at right angles to w.`,
        },
      },
      {
        text: [
          "Next comes point 1, x = (1, 2) of class −1. Its score is w·x = 4, above 0, so that it is predicted as +1.",
          "An update for y = −1 subtracts the point: w ← w − x.",
        ],
        at: 1,
        ask: {
          question: "How does the score of this point change?",
          options: ["It falls by ‖x‖² = 5.", "It rises by ‖x‖² = 5.", "It becomes 0."],
          then: 1,
          answer: (app) => (app.run.after[1] > app.run.before[1] ? 0 : 1),
          why: (app) =>
            `The margin y·w·x went from ${number(app.run.before[1])} to ${number(app.run.after[1])}: up by ‖x‖² = 5. An update always moves the score of its own point in the right direction. It need not be enough, and it may spoil other points.`,
        },
      },
      {
        text: ["“This update” has the formula with its numbers, and “The step as vectors” draws it."],
        at: 2,
        task: {
          text: "press Step until the run ends.",
          done: (app) => app.at === app.run.end,
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
          "At the start w = 0 and b = 0, so that every margin m = y·(w·x + b) is 0. The perceptron makes an update when m ≤ 0.",
        ],
        scene: { set: "or" },
        at: 0,
        ask: {
          question: "If it made an update only when m < 0, how many would it make?",
          options: ["None, ever", "One", "As many as now"],
          answer: (app) => (app.run.before[0] < 0 ? 2 : 0),
          why: (app) =>
            `The first margin is ${number(app.run.before[0])}, not below 0, and so are all the others: w would stay 0 for ever, without a single “mistake”.`,
        },
      },
      {
        text: [
          "The other convention in use: a score of 0 predicts the second class, +1, in training and in prediction alike. Model B does that. Both models see the points of OR.",
        ],
        scene: { set: "or", models: [{}, { tie: "positive" }] },
        at: 0,
        ask: {
          question: "Do both models separate the points?",
          options: ["Yes, both", "Only A", "Only B"],
          then: "end",
          answer: (app) => (app.runs[0].converged ? (app.runs[1].converged ? 0 : 1) : 2),
          why: (app) =>
            `A made ${counted(app.runs[0].n_updates, "update")}, B ${counted(app.runs[1].n_updates, "update")}. Either convention is fine, as long as some points at 0 count as wrong.`,
        },
      },
    ],
  },
  {
    title: "Margin and speed",
    about: "The thinner the gap, the more updates.",
    steps: [
      {
        text: ["Two clouds. The margin is the distance from the best line to the nearest point."],
        scene: { set: "clouds" },
        at: 0,
        ask: {
          question: "How many updates does the perceptron need here?",
          options: ["Fewer than 20", "20 to 100", "More than 100"],
          then: "end",
          answer: (app, memory) => {
            memory.wide = app.run.n_updates;
            return memory.wide < 20 ? 0 : memory.wide <= 100 ? 1 : 2;
          },
          why: (app) =>
            `It made ${counted(app.run.n_updates, "update")}. The largest margin is about ${number(app.verdict().margin)}.`,
        },
      },
      {
        text: ["Now two lines of points with a thin gap between them."],
        scene: { set: "thin", models: [{ max_iter: 1000 }] },
        at: 0,
        ask: {
          question: "How many updates here?",
          options: ["About as many", "More than twice as many", "More than ten times as many"],
          then: "end",
          answer: (app, memory) =>
            app.run.n_updates <= 2 * memory.wide ? 0 : app.run.n_updates <= 10 * memory.wide ? 1 : 2,
          why: (app, memory) =>
            `${counted(app.run.n_updates, "update")} instead of ${memory.wide}, because the margin is only about ${number(app.verdict().margin)}. The theorem allows up to (R/γ)² updates: half the margin, four times the bound.`,
        },
      },
      {
        text: [
          "Does it matter how far away the points are? These are the four points of the first lesson, without a bias.",
          "Imagine the same points, ten times as far from the origin.",
        ],
        scene: CROSSING,
        ask: {
          question: "How many updates will it need then?",
          options: ["The same number", "Ten times as many", "A hundred times as many"],
          answer: (app, memory) => {
            memory.near = app.run.n_updates;
            return 0;
          },
          why: (app) =>
            `Every point and every margin grows by the same factor, so that R/γ stays: only the shape counts. Here it made ${counted(app.run.n_updates, "update")}; the next step shows the points ten times as far away.`,
        },
      },
      {
        text: ["The points ten times as far away."],
        scene: FAR,
        at: 0,
        task: {
          text: "go to the end, and read how many updates it made.",
          done: (app) => app.at === app.run.end,
          why: "It is the same number, and w is ten times as long.",
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
          "And each update adds at most R² to ‖w‖², because the point was wrong: ‖w + y·x‖² = ‖w‖² + 2m + ‖x‖² with m ≤ 0. So ‖w‖² ≤ k·R². (With a bias, b is one more weight, and x has one more feature that is always 1.)",
        ],
        scene: { set: "thin", models: [{ max_iter: 1000 }] },
        at: 0,
        ask: {
          question: "w*·w grows at least like k. How fast can the length ‖w‖ grow, at most?",
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
            `√k·γ/R ≤ 1 means k ≤ (R/γ)², which is ${app.run.proof.max_updates} here. The run made ${app.run.n_updates}.`,
        },
      },
      {
        text: [
          "The bound holds for every order of the points. Does the order matter for the number of updates that are made?",
        ],
        task: {
          text: "under “Model”, set the order of the points to shuffled, and look at “Mistakes and the bound”.",
          done: (app) => app.whole && app.run.choice.order === "shuffled",
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
        at: 0,
        ask: {
          question: "Can such a line separate the clouds?",
          options: ["No", "Yes"],
          then: "end",
          answer: (app) => Number(origin(app).separable),
          why: (app) =>
            `The verdict is proved: points ${(origin(app).irreducible ?? []).join(", ")} cannot be separated by a line through the origin. They have a dashed ring.`,
        },
      },
      {
        text: [
          "A bias b is one more weight, of a feature that is always 1. The points become (x, 1), one dimension higher, and there they can be separated through the origin.",
        ],
        task: {
          text: "under “Model”, switch the bias on.",
          done: (app) => app.whole && app.run.choice.fit_intercept && app.run.converged,
          why: "The perceptron separates the clouds now.",
        },
      },
      {
        text: [
          "With the bias as a weight, the bound (R/γ)² is about the longer points (x, 1). Points far from the origin make R large and γ small.",
          "Imagine that all points are moved together, so that their mean is the origin.",
        ],
        scene: { set: "offset" },
        ask: {
          question: "What happens to the bound?",
          options: ["It falls", "It stays", "It rises"],
          answer: (app, memory) => {
            memory.bound = app.run.proof.max_updates;
            return 0;
          },
          why: (app) =>
            `It is ${app.run.proof.max_updates} here, with R = ${number(app.run.proof.radius)} and γ = ${number(app.run.proof.gamma)}. The next step shows the centred points.`,
        },
      },
      {
        text: ["The same clouds, centred."],
        scene: { set: "offset", centred: true },
        at: 0,
        task: {
          text: "go to the end, and compare the bound.",
          done: (app) => app.at === app.run.end,
          why: "The bound is much smaller now: centre your data.",
        },
      },
    ],
  },
  {
    title: "Recency and averaging",
    about: "The last w remembers the last points best.",
    steps: [
      {
        text: [
          "Points sorted by class: first all of −1, then all of +1, and one pass. Model A predicts with the last w, model B with the mean of all w.",
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
          answer: (app) => least(errors(app.runs[1]), errors(app.runs[0])),
          why: (app) => {
            const wrong = app.wrongAt(app.runs[0], app.runs[0].end, null);
            const first = wrong.filter((is, i) => is && app.scene.labels[i] === 0).length;
            return `A: ${percent(app.runs[0].training_error)}, B: ${percent(app.runs[1].training_error)} of the points are wrong. Of A's ${errors(app.runs[0])} wrong points, ${first} are of the class that came first.`;
          },
        },
      },
      {
        text: ["Now shuffled points and ten passes. The classes overlap, so that w never comes to rest."],
        scene: {
          set: "recency",
          models: [
            { max_iter: 10, order: "shuffled", tol: null },
            { max_iter: 10, order: "shuffled", tol: null, readout: "averaged" },
          ],
          held_out: 0.3,
        },
        at: 0,
        ask: {
          question: "Which is better on the held-out points, which no model has learned from?",
          options: ["B, the average", "A, the last w", "Both the same"],
          then: "end",
          answer: (app) => least(app.runs[1].validation_error, app.runs[0].validation_error),
          why: (app) =>
            `Held out: A ${percent(app.runs[0].validation_error)}, B ${percent(app.runs[1].validation_error)} wrong. The average changes little from point to point; the last w depends on which point came last. Play the run and watch both boundaries.`,
        },
      },
    ],
  },
  {
    title: "XOR, features and kernels",
    about: "When no line will do, change the space.",
    steps: [
      {
        text: ["The four points of XOR: equal coordinates are −1, different ones +1."],
        scene: { set: "xor", models: [{ max_iter: 30, tol: null }] },
        at: 0,
        ask: {
          question: "Will the perceptron find a line?",
          options: ["No, there is none", "Yes, after many passes"],
          then: "end",
          answer: (app) => Number(app.shown.verdicts[0].separable),
          why: (app) =>
            `The hulls of the classes meet at ${vector(app.shown.verdicts[0].point)}: this point would have to be on both sides. After ${app.run.n_iter} passes, ${app.run.mistakes.at(-1)} of 4 points are still mistakes in each.`,
        },
      },
      {
        text: [
          "Give each point one more feature: the product x1·x2. Then there are three weights, and the picture shows the plane of w.",
        ],
        scene: { rows: SQUARE, labels: [0, 1, 1, 0], names: ["x1", "x2", "x1·x2"] },
        at: 0,
        ask: {
          question: "Can a plane separate them now?",
          options: ["Yes", "No"],
          then: "end",
          answer: (app) => Number(!app.shown.verdicts[0].separable),
          why: (app) =>
            `With a margin of about ${number(app.shown.verdicts[0].margin)}. The perceptron found w = ${vector(app.run.coef[0])}, b = ${number(app.run.intercept[0])}, in ${counted(app.run.n_updates, "update")}.`,
        },
      },
      {
        text: [
          "A kernel does this for you. It computes inner products in a space of many features without ever making them. The polynomial kernel of degree 2 contains the product x1·x2.",
        ],
        scene: { set: "xor" },
        task: {
          text: "under “Model”, choose “with a kernel”, and then the kernel poly.",
          done: (app) => app.whole && app.run.kernel && app.run.choice.kernel === "poly" && app.run.converged,
          why: "The boundary is curved in the plane, and flat in the kernel's feature space. The dual view shows which points it is made of.",
        },
      },
    ],
  },
  {
    title: "Mistakes on inseparable data",
    about: "It never comes to rest, but it does not go astray.",
    steps: [
      {
        text: ["Two clouds that overlap, in a new order each time, and 30 passes."],
        scene: { set: "noise", models: [{ max_iter: 30, tol: null, order: "shuffled" }] },
        at: 0,
        ask: {
          question: "Do the mistakes of a pass fall to 0?",
          options: ["No, they go up and down", "Yes, slowly"],
          then: "end",
          answer: (app) => Number(app.run.converged),
          why: (app) =>
            `In the last pass it made ${counted(app.run.mistakes.at(-1), "mistake")}, in the best one ${Math.min(...app.run.mistakes)}. No line separates these points, so no pass is without a mistake. See “Errors, pass by pass”.`,
        },
      },
      {
        text: [
          "Even so, there is a theorem: for any w, the mistakes of one pass are bounded by how far w is from separating the points (Freund & Schapire 1999, Gentile 2003).",
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
          "The last w is as good as chance made it. The pocket readout tries a hypothesis on all points when it has been right for longer than any before it, and keeps the best that it has tried.",
        ],
        scene: {
          set: "noise",
          models: [
            { max_iter: 30, tol: null, order: "shuffled" },
            { max_iter: 30, tol: null, order: "shuffled", readout: "pocket" },
          ],
        },
        at: 0,
        ask: {
          question: "Which has fewer training errors in this run?",
          options: ["B, the pocket", "A, the last w", "Both the same"],
          then: "end",
          answer: (app) => least(errors(app.runs[1]), errors(app.runs[0])),
          why: (app) =>
            `A, the last w: ${percent(app.runs[0].training_error)} wrong. B, the pocket: ${percent(app.runs[1].training_error)}. The pocket does not try every w, so that the last one can be better by luck.`,
        },
      },
    ],
  },
];
