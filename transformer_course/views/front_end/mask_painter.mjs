// The mask painter: a table of cells to allow or mask out, the resulting weights, and the outputs that an input reaches.

import { ink, tint } from "./colors.mjs";
import { arrowKeys, button, slider } from "./controls.mjs";
import { attributes, element } from "./dom.mjs";
import { PAD, PRESETS, preset, reached, weights } from "./masks.mjs";
import { listed } from "./tokens.mjs";

const MAX_LAYERS = 4;

export function draw(view) {
  const tokens = view.get("tokens");
  const { controls, body } = view.frame({
    name: "Mask painter",
    help:
      "Click a cell or drag across several cells to change the mask. On the keyboard, use the arrow keys and Space. Click an " +
      "input above the columns to see which outputs depend on it. Each layer adds its result to its input (residual connection).",
  });
  const names = Object.keys(PRESETS).filter((name) => tokens.includes(PAD) || !name.includes("padding"));
  const presets = element("span", { class: "mp-presets", role: "group", "aria-label": "Presets" });
  const chosen = names.map((name) => ({ mask: preset(name, tokens), button: button(name, () => view.set({ allowed: preset(name, tokens) })) }));
  presets.append(...chosen.map((each) => each.button));
  controls.append(presets, slider(view, { trait: "layers", label: "layers", min: 1, max: MAX_LAYERS, step: 1 }));

  const inputs = tokens.map((token, j) => inputButton(view, token, j));
  const cells = tokens.flatMap((_, i) => tokens.map((_, j) => cellButton(i, j)));
  const outputs = tokens.map(() => element("div", { class: "mp-output" }));
  arrowKeys(inputs);
  arrowKeys(cells, tokens.length);
  paintByHand(view, cells, tokens.length);

  const grid = element("div", { class: "mp-grid", style: `--n: ${tokens.length}` });
  grid.append(element("div", { class: "mp-corner" }, "key →", element("br"), "query ↓"), ...inputs, element("div", { class: "mp-corner" }, "output"));
  tokens.forEach((token, i) => {
    const row = cells.slice(i * tokens.length, (i + 1) * tokens.length);
    grid.append(element("div", { class: "mp-query" }, token), ...row, outputs[i]);
  });
  body.append(grid);

  view.follow(["allowed", "source", "layers"], () => {
    const allowed = view.get("allowed");
    const source = view.get("source");
    const left = weights(view.get("scores"), allowed);
    const lit = source === null ? null : reached(allowed, source, view.get("layers"));
    cells.forEach((cell, at) => {
      const [i, j] = [Math.floor(at / tokens.length), at % tokens.length];
      showCell(cell, left[i][j], `query ${tokens[i]}, key ${tokens[j]}`);
    });
    chosen.forEach(({ mask, button }) => attributes(button, { "aria-pressed": String(String(mask) === String(allowed)) }));
    inputs.forEach((input, j) => attributes(input, { "aria-pressed": String(j === source) }));
    outputs.forEach((output, i) => {
      const isEmpty = !allowed[i].includes(true);
      const state = !lit?.[i] ? null : i < source ? "leak" : "reached";
      attributes(output, { "data-state": state, "data-empty": isEmpty });
      const found = [isEmpty && "zeros", state].filter(Boolean).join(" · ");
      output.replaceChildren(element("span", { class: "mp-name" }, `${tokens[i]}${found && " · "}`), found);
    });
    view.say(sentence(tokens, allowed, source, lit));
  });
}

/** Return the button above a column, which selects or deselects the input. */
function inputButton(view, token, j) {
  const input = element("button", { type: "button", class: "mp-input", title: `input ${j}` }, token);
  input.addEventListener("click", () => view.set({ source: view.get("source") === j ? null : j }));
  return input;
}

function cellButton(i, j) {
  return element("button", { type: "button", class: "mp-cell", "data-i": i, "data-j": j });
}

/** Let a press toggle a cell, and a drag from there set every cell on its way to the same state. */
function paintByHand(view, cells, n) {
  let value = null; // the state that is painted while the pointer is down
  const set = (at, isAllowed) => {
    const allowed = view.get("allowed").map((row) => [...row]);
    const [i, j] = [Math.floor(at / n), at % n];
    if (allowed[i][j] === isAllowed) return;
    allowed[i][j] = isAllowed;
    view.set({ allowed });
  };
  const isAllowed = (at) => view.get("allowed")[Math.floor(at / n)][at % n];
  cells.forEach((cell, at) => {
    cell.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      cell.releasePointerCapture?.(event.pointerId); // otherwise the first cell receives all events of a touch
      set(at, (value = !isAllowed(at)));
    });
    cell.addEventListener("pointerenter", () => value !== null && set(at, value));
    // Space and Enter cause a click whose `detail` is 0, unlike the click of a pointer.
    cell.addEventListener("click", (event) => event.detail === 0 && set(at, !isAllowed(at)));
  });
  const lift = () => (value = null);
  window.addEventListener("pointerup", lift);
  window.addEventListener("pointercancel", lift);
  view.stops.push(() => ["pointerup", "pointercancel"].forEach((name) => window.removeEventListener(name, lift)));
}

function showCell(cell, weight, name) {
  attributes(cell, { "aria-pressed": String(weight !== null), "data-hidden": weight === null });
  cell.style.background = weight === null ? "" : tint(weight);
  cell.style.color = weight === null ? "" : ink(weight);
  cell.textContent = weight === null ? "×" : weight.toFixed(2);
  cell.setAttribute("aria-label", `${name}: ${weight === null ? "hidden" : `weight ${weight.toFixed(2)}`}`);
}

/** Describe the mask and the outputs that the selected input reaches. */
function sentence(tokens, allowed, source, lit) {
  const pairs = allowed.flat().filter(Boolean).length;
  const empty = tokens.filter((_, i) => !allowed[i].includes(true));
  const sentences = [`${pairs} of ${tokens.length ** 2} pairs allowed.`];
  if (empty.length) sentences.push(`${listed(empty)} may attend to no key, so the output is zeros.`);
  if (lit) {
    const outputs = tokens.filter((_, i) => lit[i]);
    const early = tokens.filter((_, i) => lit[i] && i < source);
    sentences.push(`Input ${listed([tokens[source]])} reaches the ${outputs.length > 1 ? "outputs" : "output"} at ${listed(outputs)}.`);
    if (early.length) sentences.push(`Leak: ${listed(early)} ${early.length > 1 ? "come" : "comes"} before it.`);
  }
  return sentences.join(" ");
}
