// Show the models of a learning server as they run, from the events at /v1/events.
//
// The page reads the stream with fetch, because EventSource cannot send a token. Text from the server is only ever
// assigned to textContent or to an attribute, so it cannot become markup.

const SECOND = 1000;
const SPANS = [60, 120, 300].map((s) => s * SECOND); // what a chart can span; the last is what is kept
const KEPT = SPANS.at(-1);
const GAP = 5 * SECOND; // a longer pause between two states is a gap in the chart
const SILENCE = 10 * SECOND; // the server sends a state each second: after this time the connection is dead
const PAUSES = [1, 2, 4, 8, 16, 30]; // seconds between attempts to connect
const RECENT = 60 * SECOND; // for how long a card says that drift was found
const EVENTS = 50; // events that the list keeps
const MAIN = ["rule", "kernel", "loss", "C", "epsilon", "gamma", "budget", "eta0", "readout", "scale"];

const $ = (id) => document.getElementById(id);
const cards = new Map(); // name of a model -> its card

// -- words and numbers -----------------------------------------------------------------------------------------

const NONE = "–";
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

const count = (n) => (Number.isFinite(n) ? whole.format(n) : NONE);
const counted = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

/** The beginning of a text, without half a character at its end. */
function cut(text, length) {
  return text.length > length ? `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…` : text;
}

/** A share as a percentage with two or three digits: 41.3 %, 4.1 %, 0.41 %, 0.041 %. */
function percent(share) {
  if (!Number.isFinite(share)) return NONE;
  const p = 100 * share;
  if (p > 0 && p < 0.001) return "<\u00a00.001\u00a0%";
  const digits = p === 0 || p === 100 ? 0 : p >= 0.995 ? 1 : p >= 0.0995 ? 2 : 3;
  return `${p.toFixed(digits)}\u00a0%`;
}

/** A duration in its two largest units: 2 h 13 min. */
function duration(seconds) {
  const s = Math.floor(seconds);
  const [minutes, hours, days] = [60, 3600, 86400].map((unit) => Math.floor(s / unit));
  const parts = [[days, "d"], [hours % 24, "h"], [minutes % 60, "min"], [s % 60, "s"]];
  const first = parts.findIndex(([n]) => n > 0);
  if (first < 0) return "0\u00a0s";
  return parts.slice(first, first + 2).map(([n, unit]) => `${n}\u00a0${unit}`).join(" ");
}

/** A parameter as Python writes it, but for quotes. */
function value(of) {
  if (of === null) return "None";
  if (of === true || of === false) return of ? "True" : "False";
  return typeof of === "object" ? JSON.stringify(of) : String(of);
}

/** Assign text only if it differs: a selection survives, and a screen reader hears no repetition. */
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function add(parent, tag, text, attributes = {}) {
  const svg = parent instanceof SVGElement;
  const element = svg ? document.createElementNS(parent.namespaceURI, tag) : document.createElement(tag);
  for (const [name, of] of Object.entries(attributes)) element.setAttribute(name, of);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

// -- charts ----------------------------------------------------------------------------------------------------

/** The smallest of 1, 2, 5, 10, 20, 50 … % (down to 0.1 %) that is not below a rate. */
function ceiling(rate) {
  if (rate <= 0) return 0.01;
  const power = 10 ** Math.max(-3, Math.floor(Math.log10(rate)));
  return Math.min(1, [1, 2, 5, 10].map((n) => n * power).find((top) => top >= rate * 0.9999));
}

/** Draw the mistake rate of the last minutes, with a line where drift was found. */
function draw(card, now) {
  const svg = card.is.chart;
  const { width, height } = card.size;
  if (!width || document.hidden) return;
  const known = card.history.filter((point) => point.rate !== null);
  const age = now - (card.history[0]?.time ?? now);
  const span = SPANS.find((s) => age <= s) ?? KEPT;
  const minutes = span / 60 / SECOND;
  const top = ceiling(Math.max(0, ...known.map((point) => point.rate)));
  const box = { left: 44, right: width - 6, top: 22, bottom: height - 20 };
  const x = (time) => box.right - ((now - time) / span) * (box.right - box.left);
  const y = (rate) => box.bottom - (rate / top) * (box.bottom - box.top);

  svg.replaceChildren();
  for (const rate of [0, top]) {
    add(svg, "line", null, { class: "rule", x1: box.left, x2: box.right, y1: y(rate), y2: y(rate) });
    const label = rate ? `${+(100 * rate).toFixed(1)}\u00a0%` : "0";
    add(svg, "text", label, { x: box.left - 6, y: y(rate) + 4, "text-anchor": "end" });
  }
  add(svg, "text", `${minutes} min ago`, { x: box.left, y: box.bottom + 16 });
  add(svg, "text", "now", { x: box.right, y: box.bottom + 16, "text-anchor": "end" });

  const runs = []; // stretches without a gap
  let last = null;
  for (const point of card.history) {
    if (point.rate !== null) {
      if (last === null || point.time - last.time > GAP) runs.push([]);
      runs.at(-1).push(`${x(point.time).toFixed(1)},${y(point.rate).toFixed(1)}`);
    }
    last = point.rate === null ? null : point;
  }
  for (const run of runs) {
    const end = (at) => run.at(at).split(",")[0];
    add(svg, "path", null, { class: "area", d: `M${end(0)},${box.bottom}L${run.join("L")}L${end(-1)},${box.bottom}Z` });
    add(svg, "path", null, { class: "curve", d: `M${run.join("L")}` });
  }
  if (last) add(svg, "circle", null, { class: "now", cx: x(last.time), cy: y(last.rate), r: 3 });
  if (!known.length) {
    const middle = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2, "text-anchor": "middle" };
    add(svg, "text", "no rate yet", middle);
  }

  let free = Infinity; // where the label to the right of this one begins
  for (const { time } of card.drifts.toReversed()) {
    const at = x(time);
    add(svg, "line", null, { class: "drift", x1: at, x2: at, y1: box.top - 8, y2: box.bottom });
    add(svg, "path", null, { class: "mark", d: `M${at},${box.top - 14}l4,4l-4,4l-4,-4Z` });
    if (at + 40 > free) continue;
    const before = at + 40 > width;
    const place = before ? { x: at - 8, "text-anchor": "end" } : { x: at + 8, "text-anchor": "start" };
    add(svg, "text", "drift", { class: "mark", y: box.top - 6, ...place });
    free = before ? at - 40 : at - 4;
  }

  const rates = known.map((point) => point.rate);
  const drifts = card.drifts.map(({ time }) => `drift was found ${duration((now - time) / SECOND)} ago`);
  svg.setAttribute("aria-label", [
    `Chart of the mistake rate in the last ${minutes} ${minutes === 1 ? "minute" : "minutes"}`,
    rates.length ? `between ${percent(Math.min(...rates))} and ${percent(Math.max(...rates))}` : "no rate yet",
    ...drifts,
  ].join("; "));
}

// -- cards -----------------------------------------------------------------------------------------------------

const watcher = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    const card = cards.get(target.closest(".model").dataset.name);
    if (!card) continue;
    card.size = contentRect; // kept, because to ask for it after each change would lay out the page again
    draw(card, card.history.at(-1)?.time ?? 0);
  }
});

function make(name) {
  const item = $("model").content.cloneNode(true).firstElementChild;
  const is = {};
  for (const element of item.querySelectorAll("[data-is]")) is[element.dataset.is] = element;
  const article = item.firstElementChild;
  const card = { item, article, is, history: [], drifts: [], size: {}, found: null, broken: null, params: null };
  article.dataset.name = name;
  article.setAttribute("aria-label", `Model ${name}`);
  is.name.textContent = name;
  is.of.textContent = ` of ${name}`;
  cards.set(name, card);
  watcher.observe(is.chart);
  return card;
}

/** Name the estimator with its main parameters, and list all of them below if there are more. */
function describe(card, estimator, params) {
  const text = JSON.stringify([estimator, params]);
  if (text === card.params) return;
  card.params = text;
  const all = Object.entries(params);
  const chosen = MAIN.filter((name) => (params[name] ?? null) !== null).map((name) => [name, params[name]]);
  const main = all.length <= 4 ? all : chosen.slice(0, 4);
  const more = all.length > main.length;
  const named = main.map(([name, of]) => `${name}=${cut(value(of), 24)}`).concat(more ? ["…"] : []);
  card.is.estimator.textContent = `${estimator}(${named.join(", ")})`;
  card.is.details.hidden = !more;
  card.is.all.replaceChildren();
  for (const [name, of] of all) {
    add(card.is.all, "dt", name);
    add(card.is.all, "dd", value(of));
  }
}

/** The number of classes, and the first of them. */
function classes(labels) {
  if (!labels) return ["none", "labels are numbers"];
  const shown = labels.length > 5 ? labels.slice(0, 4) : labels;
  const more = labels.length - shown.length;
  const words = shown.map((label) => cut(String(label), 24)).join(", ");
  return [count(labels.length), more ? `${words} and ${count(more)} more` : words];
}

function show(card, model, now) {
  const { is } = card;
  const window = model.window ?? {};
  const drift = model.drift ?? {};
  const lag = model.position - model.durable;
  const behind = model.position - model.snapshot;
  const [number, labels] = classes(model.classes);

  describe(card, model.estimator, model.params ?? {});
  const texts = {
    rate: percent(window.rate),
    window: window.seen ? `${count(window.mistakes)} of the last ${count(window.seen)}` : "no examples in the window",
    error: model.n_seen ? percent(model.n_mistakes / model.n_seen) : NONE,
    mistakes: model.n_seen ? `${count(model.n_mistakes)} of ${count(model.n_seen)}` : "no examples yet",
    seen: count(model.n_seen),
    updates: counted(model.n_updates, "update"),
    drift: drift.found ? `${count(drift.found)} found` : "none found",
    since: drift.found ? `last at ${count(drift.position)}; ${percent(drift.rate)} mistakes since` : "",
    position: count(model.position),
    durable: lag > 0 ? `${count(lag)} not on disk` : "all on disk",
    snapshot: count(model.snapshot),
    behind: behind > 0 ? `${count(behind)} behind` : "up to date",
    pending: count(model.pending),
    queue: count(model.queue),
    features: count(model.n_features),
    number,
    classes: labels,
  };
  for (const [name, text] of Object.entries(texts)) say(is[name], text);

  const broken = model.broken || null;
  is.broken.hidden = !broken;
  say(is.broken, broken ? `This model cannot be used. ${broken}` : "");
  if (broken && broken !== card.broken) report(model.name, `this model cannot be used. ${broken}`);
  if (!broken && card.broken) report(model.name, "this model can be used again.");
  card.broken = broken;

  card.history.push({ time: now, rate: Number.isFinite(window.rate) ? window.rate : null });
  while (card.history[0].time < now - KEPT) card.history.shift();
  card.drifts = card.drifts.filter(({ time }) => time >= now - KEPT);
  const latest = card.drifts.at(-1);
  const recent = latest !== undefined && now - latest.time < RECENT;
  card.article.classList.toggle("drifted", recent);
  is.recent.hidden = !recent;
  if (recent) say(is.recent, `drift ${duration(Math.max(0, now - latest.time) / SECOND)} ago`);
  draw(card, now);
}

// -- events ----------------------------------------------------------------------------------------------------

/** Put a sentence about a model at the top of the list of events. */
function report(name, sentence) {
  $("quiet").hidden = true;
  const date = new Date();
  const item = document.createElement("li");
  add(item, "time", `${day.format(date)}, ${clock.format(date)}`, { datetime: date.toISOString() });
  add(item, "b", cut(name, 80));
  item.append(`: ${sentence}`);
  $("events").prepend(item);
  while ($("events").children.length > EVENTS) $("events").lastElementChild.remove();
}

function onDrift({ name, position, rate }, now) {
  cards.get(name)?.drifts.push({ time: now });
  const risen = Number.isFinite(rate) ? `; the mistake rate rose to ${percent(rate)}` : "";
  report(name, `drift found at position ${count(position)}${risen}.`);
}

const server = { states: [], offset: 0 }; // states of the last seconds of this connection; clock minus uptime

/** The time of an event: that of its state, so that events which arrive late together do not fall together. */
const timeOf = (uptime) => server.offset + uptime * SECOND;

function onState({ models, uptime, requests }) {
  const first = server.states.length === 0;
  if (first) server.offset = Date.now() - uptime * SECOND;
  const now = timeOf(uptime);
  server.states.push({ uptime, requests });
  if (server.states.length > 6) server.states.shift();
  const then = server.states[0];
  const rate = uptime > then.uptime ? (requests - then.requests) / (uptime - then.uptime) : null;
  say($("uptime"), duration(uptime));
  say($("requests"), rate === null ? NONE : rate < 9.95 ? rate.toFixed(1) : count(rate));
  say($("count"), count(models.length));

  const names = new Set(models.map((model) => model.name));
  for (const [name, card] of cards) {
    if (names.has(name)) continue;
    watcher.unobserve(card.is.chart);
    card.item.remove();
    cards.delete(name);
  }
  models.forEach((model, i) => {
    const card = cards.get(model.name) ?? make(model.name);
    if ($("models").children[i] !== card.item) $("models").insertBefore(card.item, $("models").children[i] ?? null);
    const found = model.drift?.found ?? 0;
    if (first && card.found !== null && found > card.found) {
      const where = count(model.drift.position);
      report(model.name, `drift found while this page was not connected, last at position ${where}.`);
    }
    card.found = found;
    show(card, model, now);
  });
  $("empty").hidden = models.length > 0;
  if (!models.length) say($("commands"), commands());
  $("content").hidden = false;
}

/** The events of a stream as [event, text of its data]; `read` gives its next text, or undefined at its end. */
async function* parse(read) {
  let rest = "";
  let event = "message";
  let data = [];
  for (;;) {
    const text = await read();
    if (text === undefined) return;
    if (!text.includes("\n")) {
      rest += text; // a long line comes in many parts: look at it once it is whole
      continue;
    }
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const raw of lines) {
      const line = raw.replace(/\r$/, "");
      if (line === "") {
        if (data.length) yield [event, data.join("\n")];
        [event, data] = ["message", []];
        continue;
      }
      const [, field, of] = line.match(/^([^:]*):? ?(.*)$/s);
      if (field === "event") event = of;
      if (field === "data") data.push(of);
    }
  }
}

// -- connection ------------------------------------------------------------------------------------------------

class Refused extends Error {} // the server wants another token

const store = {
  get token() {
    try { return sessionStorage.getItem("token"); } catch { return this.own; }
  },
  set token(token) {
    this.own = token;
    try {
      if (token) sessionStorage.setItem("token", token);
      else sessionStorage.removeItem("token");
    } catch { /* the browser forbids storage: `own` has it */ }
  },
  own: null,
};

function status(state, text, next = "") {
  $("connection").dataset.state = state;
  say($("status"), text);
  say($("next"), next);
  document.title = state === "lost" || state === "failed" ? "Not connected – perceptrons" : "perceptrons";
}

/** Read events until the connection ends, which throws an Error that says why. */
async function listen(connected) {
  const abort = new AbortController();
  let timer;
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => abort.abort(new Error("The server has stopped sending.")), SILENCE);
  };
  const network = (promise, failure) => promise.catch(() => { throw abort.signal.reason ?? new Error(failure); });
  alive();
  try {
    const token = store.token;
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    const request = fetch("v1/events", { headers, cache: "no-store", signal: abort.signal });
    const response = await network(request, "The server cannot be reached.");
    if (!response.ok) {
      const { error } = await response.json().catch(() => ({}));
      const refusal = token ? "The server does not accept this token." : "This server asks for a token.";
      if (response.status === 401) throw new Refused(refusal);
      if (response.status === 403) throw new Refused(error ?? "This token does not allow reading.");
      throw new Error(`The server answered with status ${response.status}${error ? `: ${error}` : "."}`);
    }
    server.states = [];
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const read = async () => {
      const { value: text } = await network(reader.read(), "The connection broke.");
      alive();
      return text;
    };
    for await (const [event, data] of parse(read)) {
      if (event === "state") {
        onState(JSON.parse(data));
        connected();
      } else if (event === "drift") {
        onDrift(JSON.parse(data), server.states.length ? timeOf(server.states.at(-1).uptime) : Date.now());
      }
    }
    throw new Error("The server closed the connection.");
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

/** Show the form, and wait until a token has been entered. */
function ask(reason) {
  status("waiting", "Waiting for a token");
  $("content").hidden = true;
  $("forget").hidden = true;
  $("ask").hidden = false;
  $("token").value = "";
  say($("reason"), reason);
  $("token").focus();
  return new Promise((resolve) => {
    $("ask").onsubmit = (event) => {
      event.preventDefault();
      const token = $("token").value.trim();
      if (!/^[!-~]+$/.test(token)) {
        say($("reason"), "A token has only letters, digits and punctuation, without spaces.");
        return;
      }
      store.token = token;
      $("ask").hidden = true;
      status("waiting", "Connecting…");
      resolve();
    };
  });
}

/** Wait some seconds, or until the button is pressed or the network is back. */
async function pause(seconds) {
  let stop = false;
  let wake;
  const hurry = () => { stop = true; wake(); };
  $("retry").hidden = false;
  $("retry").onclick = hurry;
  addEventListener("online", hurry);
  for (let left = seconds; left > 0 && !stop; left--) {
    say($("next"), `Next try in ${left}\u00a0s.`);
    await new Promise((resolve) => { wake = resolve; setTimeout(resolve, SECOND); });
  }
  removeEventListener("online", hurry);
  $("retry").hidden = true;
  say($("next"), "Trying now …");
}

async function run() {
  let attempt = 0;
  let since = null; // when the connection was lost
  let ever = false;
  for (;;) {
    try {
      await listen(() => {
        [attempt, since, ever] = [0, null, true];
        status("connected", "Connected");
        $("forget").hidden = !store.token;
      });
    } catch (error) {
      if (error instanceof Refused) {
        await ask(error.message);
        continue;
      }
      if (error.constructor !== Error) console.error(error); // a mistake in this page, or in what the server sends
      since ??= clock.format(new Date());
      const why = error.constructor === Error ? error.message : "This page cannot read what the server sends.";
      if (ever) status("lost", `Connection lost at ${since}; the numbers are from then. ${why}`);
      else status("failed", `Not connected. ${why}`);
      await pause(PAUSES[Math.min(attempt++, PAUSES.length - 1)]);
    }
  }
}

function commands() {
  const header = store.token ? ' \\\n  -H "Authorization: Bearer $TOKEN"' : "";
  const url = new URL("v1/models/spam", document.baseURI).href;
  return `curl -X POST ${url}${header} \\\n  -d '{"estimator": "Perceptron", "params": {"rule": "arow"}}'\n\n`
    + `curl ${url}/learn${header} \\\n  -d '{"x": {"links": 3, "from": "bank"}, "y": "spam"}'`;
}

$("forget").onclick = () => {
  store.token = null;
  location.reload();
};
document.addEventListener("visibilitychange", () => {
  for (const card of cards.values()) draw(card, card.history.at(-1)?.time ?? 0);
});
run();
