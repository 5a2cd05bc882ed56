// To take away: the address, the program, pictures of panels, and the table.

import { csv } from "./numbers.js";
import { $, colour, save, say } from "./words.js";

/** Put text on the clipboard; where that is not allowed, select it for the user. */
async function copyText(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    field?.select();
    return false;
  }
}

export function begin(app) {
  $("copy-address").addEventListener("click", async () => {
    await app.keepAddress();
    const done = await copyText(location.href);
    app.tell(
      done
        ? "The address is on the clipboard. It holds this scene."
        : "Copy the address from the browser's address bar: it holds this scene.",
      true,
    );
  });
  $("copy-python").addEventListener("click", async () => {
    if (!app.scene.rows.length) {
      app.tell("There are no points yet, so there is no fit to copy.", true);
      return;
    }
    const answer = await app.link.ask("write", { scene: app.scene, model: app.active });
    if (answer.error) {
      app.tell(answer.error, true);
      return;
    }
    $("program-text").value = answer.program;
    say($("program-said"), "");
    $("program").showModal();
    $("program-text").setSelectionRange(0, 0);
    $("program-text").scrollTop = 0;
  });
  $("program-copy").addEventListener("click", async () => {
    const done = await copyText($("program-text").value, $("program-text"));
    say($("program-said"), done ? "Copied." : "Press Ctrl-C to copy the selected text.");
  });
  $("program-save").addEventListener("click", () =>
    save("perceptron_lab.py", $("program-text").value, "text/x-python"),
  );
  $("program-close").addEventListener("click", () => $("program").close());
  $("table-csv").addEventListener("click", () => app.run && save("updates.csv", csv(app, app.run), "text/csv"));
  for (const button of document.querySelectorAll("[data-save]")) {
    button.addEventListener("click", () =>
      savePicture(document.getElementById(button.dataset.save), button.dataset.kind, button.dataset.save),
    );
  }
}

// -- pictures ---------------------------------------------------------------------------------------------------

const LOOK = [
  "display",
  "paint-order",
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "font",
  "text-anchor",
  "visibility",
];

/** A copy of an <svg> that looks the same without the style sheet; a canvas below it becomes an image in it. */
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const [from, to] = [
    [svg, ...svg.querySelectorAll("*")],
    [copy, ...copy.querySelectorAll("*")],
  ];
  from.forEach((element, k) => {
    const style = getComputedStyle(element);
    for (const name of LOOK) {
      const value = style.getPropertyValue(name);
      if (value) to[k].setAttribute(name === "font" ? "style" : name, name === "font" ? `font:${value}` : value);
    }
    to[k].removeAttribute("class");
    to[k].removeAttribute("tabindex");
  });
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({
    width,
    height,
    fill: colour("--card"),
  }))
    paper.setAttribute(name, value);
  const canvas = svg.parentElement.querySelector("canvas");
  if (canvas?.width) {
    const image = document.createElementNS("http://www.w3.org/2000/svg", "image");
    for (const [name, value] of Object.entries({ width, height, href: canvas.toDataURL() }))
      image.setAttribute(name, value);
    copy.prepend(image);
  }
  copy.prepend(paper);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

async function savePicture(svg, kind, name) {
  const { text, width, height } = standalone(svg);
  if (kind === "svg") {
    save(`${name}.svg`, text, "image/svg+xml");
    return;
  }
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement("canvas");
  const scale = Math.max(2, 1200 / width);
  [canvas.width, canvas.height] = [Math.round(scale * width), Math.round(scale * height)];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => save(`${name}.png`, blob), "image/png");
}
