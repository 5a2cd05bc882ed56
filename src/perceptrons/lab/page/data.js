// Points from a table: pasted text, a file of this computer, or the file that the command names.

import { $, counted, make, say, show } from "./words.js";

let table = null; // the table that was read last
let source = {}; // where it came from, to read it again with another target

/** Wire the dialog; `app` takes the points. */
export function begin(app) {
  const dialog = $("data");
  $("open-data").addEventListener("click", () => open(app));
  $("data-close").addEventListener("click", () => dialog.close());
  $("paste-read").addEventListener("click", () => read(app, { name: "pasted text", text: $("paste").value }));
  $("file").addEventListener("change", async () => {
    const [file] = $("file").files;
    if (!file) return;
    if (file.size > app.link.welcome.limits.bytes) {
      fail(
        `${file.name} has ${counted(file.size, "byte")}; the lab reads files of up to ${counted(app.link.welcome.limits.bytes, "byte")} here. Start it with the file instead: perceptrons lab ${file.name}`,
      );
      return;
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    let binary = "";
    for (let k = 0; k < bytes.length; k += 32768) binary += String.fromCharCode(...bytes.subarray(k, k + 32768));
    read(app, { name: file.name, content: btoa(binary) });
  });
  $("data-use").addEventListener("click", () => use(app));
}

function open(app) {
  fail("");
  $("data-found").hidden = true;
  $("data").showModal();
  $("paste").focus();
}

/** Read the file that the command names, and use it at once. */
export async function readNamed(app) {
  $("data").showModal();
  await read(app, {});
}

function fail(text) {
  say($("data-error"), text);
}

async function read(app, from, target = null) {
  fail("");
  const answer = await app.link.ask("read", { ...from, target });
  if (answer.error) {
    fail(answer.error);
    $("data-found").hidden = true;
    return;
  }
  [table, source] = [answer, from];
  describe(app);
}

/** Say what was found, and let the user choose columns. */
function describe(app) {
  const { names, labels, target, targets, notes } = table;
  $("data-found").hidden = false;
  say(
    $("data-title"),
    `${table.name}: ${counted(labels.length, "row")}, ${counted(names.length, "column")} of numbers`,
  );
  show($("data-notes"), ...notes.map((note) => make("li", {}, note)));
  const options = (chosen) => names.map((name, j) => make("option", { value: j, selected: j === chosen }, name));
  show($("data-x"), ...options(0));
  show($("data-y"), ...options(Math.min(1, names.length - 1)));
  show($("data-target"), ...targets.map((name) => make("option", { value: name, selected: name === target }, name)));
  $("data-target").onchange = () => read(app, source, $("data-target").value);
  $("data-scale").checked = unlike(table.values);
  $("data-all").disabled = names.length <= 2;
  $("data-all").checked = false;
  const columns = () => {
    for (const id of ["data-x", "data-y"]) $(id).disabled = $("data-all").checked;
  };
  $("data-all").onchange = columns;
  columns();
  $("data-use").focus();
}

function use(app) {
  const all = $("data-all").checked || table.names.length === 1;
  const [x, y] = [Number($("data-x").value), Number($("data-y").value)];
  if (!all && x === y) {
    fail("Choose two different columns.");
    return;
  }
  const columns = all ? table.names.map((_, j) => j) : [x, y];
  const classes = [...new Set(table.labels)].sort((a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : byCodePoint(String(a), String(b)),
  );
  if (classes.length < 2) {
    fail("All rows have the same label: the lab needs two classes.");
    return;
  }
  const place = new Map(classes.map((name, code) => [name, code]));
  const values = $("data-scale").checked ? scaled(table.values) : table.values;
  app.take({
    rows: values.map((row) => columns.map((j) => row[j])),
    labels: table.labels.map((name) => place.get(name)),
    classes,
    names: columns.map((j) => table.names[j]),
  });
  $("data").close();
}

/** The mean and the deviation of each column. */
function moments(values) {
  return values[0].map((_, j) => {
    const mean = values.reduce((sum, row) => sum + row[j], 0) / values.length;
    const square = values.reduce((sum, row) => sum + (row[j] - mean) ** 2, 0) / values.length;
    return [mean, Math.sqrt(square) || 1];
  });
}

/** Whether columns differ so much that the smaller ones could not be seen. */
function unlike(values) {
  const spreads = moments(values).map(([, spread]) => spread);
  return Math.max(...spreads) > 5 * Math.min(...spreads);
}

/** Values with mean 0 and deviation 1 in each column, to four digits. */
function scaled(values) {
  const of = moments(values);
  return values.map((row) => row.map((x, j) => Number(((x - of[j][0]) / of[j][1]).toFixed(4))));
}

/** The order in which Python sorts text: by code points. */
function byCodePoint(a, b) {
  const [p, q] = [[...a], [...b]];
  for (let k = 0; k < Math.min(p.length, q.length); k++)
    if (p[k] !== q[k]) return p[k].codePointAt(0) - q[k].codePointAt(0);
  return p.length - q.length;
}
