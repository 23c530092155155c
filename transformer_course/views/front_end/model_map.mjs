// The model map: the blocks of a model in the order of a run, one open block, and the next-token predictions.

import { arrowKeys, button, slider } from "./controls.mjs";
import { attributes, element } from "./dom.mjs";
import { player } from "./player.mjs";
import { numbered, visible } from "./tokens.mjs";
import { translatorOf } from "./translator.mjs";
import { oncePerFrame } from "./view.mjs";

const TOKEN_MILLISECONDS = 700; // time between two tokens while playing
const BLOCK_MILLISECONDS = 250; // time between two blocks while playing
const STRIP = 56; // width of the small picture of a block, in pixels
const ROW = 18; // height of a token in the large picture, in pixels

export function draw(view) {
  const { root, controls, body } = view.frame({
    name: "Model map",
    help: "Select a block with the mouse, or with Tab and the arrow keys. Each row is a token; orange is positive, blue is negative. Rows after the selected token are faint. Flow plays all blocks; next tokens plays the tokens.",
  });
  const isAlive = Boolean(view.model.widget_manager);
  const stored = view.get("in_browser");
  const translate = !isAlive && stored?.parameters ? translatorOf(stored) : null;
  controls.append(...(isAlive || translate ? textField(view, translate ? { step: 0 } : {}) : [textList(view)]));
  const scene = element("div", { class: "mm-scene" });
  body.append(scene);
  let drawn = null;
  let shown = null; // the text that is drawn
  let players = [];

  const pause = () => players.forEach((each) => each.querySelector('[aria-pressed="true"]')?.click());
  for (const event of ["click", "focusin"]) scene.addEventListener(event, pause, true); // playing stops when the reader selects a block
  const build = () => {
    const text = view.get("text");
    const run = view.get("runs")[text] ?? translate?.(text);
    if (!run) return view.say(view.get("problem") || "The model is running.");
    pause();
    players.forEach((each) => each.remove());
    drawn = map(view, run, isAlive);
    players = [flowControl(view, drawn.n), stepControl(view, run)];
    controls.append(...players);
    scene.replaceChildren(drawn.root);
    mark();
    const isNew = shown !== null && shown !== text;
    shown = text;
    if (isNew && !matchMedia("(prefers-reduced-motion: reduce)").matches) players[0].firstChild.click();
  };
  const mark = () => {
    if (!drawn) return;
    drawn.mark(Math.min(view.get("block"), drawn.n - 1), Math.min(view.get("step"), drawn.steps - 1));
    view.say(view.get("problem") || drawn.inWords());
  };
  view.follow(["runs", "text"], oncePerFrame(build));
  view.follow(["block", "step", "problem"], oncePerFrame(mark));
  root.style.setProperty("--row", `${ROW}px`);
}

/** Return a text field and a button for each example. `also` are other traits to set with a text. */
function textField(view, also) {
  const input = element("input", { type: "text", size: 24, maxlength: 200 });
  const choose = (text) => text.trim() && view.set({ text: text.trim(), ...also });
  input.addEventListener("change", () => choose(input.value));
  view.follow(["text"], () => (input.value = view.get("text")));
  const texts = view.get("texts");
  const examples = texts.length > 1 ? [element("span", { class: "tl-control mm-wrap" }, ...texts.map((text) => button(text, () => choose(text))))] : [];
  return [element("label", { class: "tl-control" }, "text", input), ...examples];
}

/** Return a list of the recorded texts, for pages that cannot run the model. */
function textList(view) {
  const texts = view.get("texts");
  const select = element("select", {}, ...texts.map((text) => element("option", {}, text)));
  select.addEventListener("change", () => view.set({ text: texts[select.selectedIndex], step: 0 }));
  view.follow(["text"], () => (select.selectedIndex = texts.indexOf(view.get("text"))));
  return element("label", { class: "tl-control" }, "text", select);
}

/** Return the button that plays the blocks from the first to the last. */
function flowControl(view, n) {
  const onward = () => {
    view.pass({ block: Math.min(view.get("block") + 1, n - 1) });
    return view.get("block") < n - 1;
  };
  const begin = () => view.pass({ block: 0 });
  return element("span", { class: "tl-control" }, player(view, { name: "flow", milliseconds: BLOCK_MILLISECONDS, begin, onward }));
}

/** Return the slider over the tokens of the last sequence, and the button that plays them. */
function stepControl(view, run) {
  const last = run.sequences.at(-1).length - 1;
  const onward = () => {
    if (view.get("step") >= last) return false;
    view.set({ step: view.get("step") + 1 });
    return view.get("step") < last;
  };
  const begin = () => view.get("step") >= last && view.set({ step: 0 });
  return element(
    "span",
    { class: "tl-control mm-wrap" },
    player(view, { name: "next tokens", milliseconds: TOKEN_MILLISECONDS, begin, onward }),
    slider(view, { trait: "step", label: "token", min: 0, max: last, step: 1 }),
  );
}

function bytes(text, Kind) {
  return new Kind(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}

/** Return red, green, blue and opacity for a number from −1 to 1. */
export function diverging(part) {
  return [...(part > 0 ? [224, 104, 20] : [0, 114, 190]), Math.round(255 * Math.min(1, Math.abs(part)) ** 0.6)];
}

/** Return a picture with a pixel for each number of a block. Rows are tokens, columns are features. */
function picture(block, rows) {
  const numbers = bytes(block.numbers, Int8Array);
  const canvas = element("canvas", { width: block.width, height: rows });
  const image = new ImageData(block.width, rows);
  numbers.forEach((level, i) => image.data.set(diverging(level / 127), 4 * i));
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/** Return all blocks, the open block, and the predictions after the token. `mark` selects another block or token. */
function map(view, run, isAlive) {
  const { blocks, sequences } = run;
  const last = sequences.length - 1;
  const open = element("div", { class: "mm-open" });
  const following = element("div", { class: "mm-next" });
  const strips = blocks.map((block, i) => {
    const rows = sequences[block.sequence].length;
    const canvas = picture(block, rows);
    canvas.style.cssText = `width: ${STRIP}px; height: ${Math.max(12, Math.min(36, 2 * rows))}px`;
    const name = block.name.split(".").at(-1);
    const strip = element("button", { type: "button", class: "mm-block", "aria-pressed": "false", title: block.name }, element("span", {}, /^\d+$/.test(name) ? "output" : name), canvas);
    strip.addEventListener("click", () => view.set({ block: i }));
    strip.addEventListener("focus", () => view.get("block") !== i && view.pass({ block: i }));
    return strip;
  });
  arrowKeys(strips);
  const stacks = sequences.map((_, which) => {
    const mine = blocks.map((block, i) => [block, i]).filter(([block]) => block.sequence === which);
    const stack = element("div", { class: "mm-stack" });
    let group = null;
    for (const [block, i] of mine) {
      const layer = block.name.match(/^(.*\.\d+)(?:\.|$)/)?.[1] ?? "";
      if (!group || group.dataset.layer !== layer) {
        group = element("div", { class: layer ? "mm-layer" : "mm-alone", "data-layer": layer });
        if (layer) group.append(element("span", { class: "mm-name" }, layer));
        stack.append(group);
      }
      group.append(strips[i]);
    }
    return stack;
  });
  const side = element("div", { class: "mm-side" }, open, following);
  const list = element("div", { class: "mm-stacks" }, ...stacks);
  const root = element("div", { class: "mm-map" }, list, side);
  let now = { block: 0, step: 0 };

  function mark(number, step) {
    now = { block: number, step };
    strips.forEach((strip, i) => attributes(strip, { "aria-pressed": String(i === number) }));
    list.scrollTop = strips[number].offsetTop - list.clientHeight / 2; // scrolls the list on narrow pages
    open.replaceChildren(...opened(blocks[number], sequences, last, step));
    const canAppend = isAlive && last === 0 && step === sequences[0].length - 1;
    const append = canAppend && ((token) => view.set({ text: view.get("text") + token }));
    following.replaceChildren(...candidates(run.next[step], sequences[last], step, append));
  }

  function inWords() {
    const block = blocks[now.block];
    const [[name, p]] = run.next[now.step];
    const after = `After ${numbered(sequences[last][now.step], now.step)}, the model predicts ${visible(name)} with probability ${Math.round(100 * p)} %.`;
    return `${block.name}, ${block.class}: ${sequences[block.sequence].length} tokens × ${block.width}, up to ±${Number(block.largest.toPrecision(2))}. ${after}`;
  }
  return { root, mark, inWords, n: blocks.length, steps: run.next.length };
}

/** Return the contents of the open block: its numbers, how much it adds to the stream, and its heads. */
function opened(block, sequences, last, step) {
  const tokens = sequences[block.sequence];
  const isLater = (i) => block.sequence === last && i > step;
  const canvas = picture(block, tokens.length);
  canvas.style.height = `${ROW * tokens.length}px`;
  const names = element("div", { class: "mm-tokens" }, ...tokens.map((token, i) => element("span", { "data-later": isLater(i) }, visible(token))));
  const adds = block.adds && element("div", { class: "mm-adds" }, ...block.adds.map((part, i) => bar(part, isLater(i))));
  const later = block.sequence === last ? tokens.length - 1 - step : 0;
  const veil = element("div", { class: "mm-veil", style: `height: ${ROW * later}px` });
  const parts = [
    element("h5", {}, `${block.name}: ${block.class}, ${tokens.length} × ${block.width}`),
    element("div", { class: "mm-numbers" }, names, element("div", { class: "mm-picture" }, canvas, veil), adds ?? ""),
  ];
  if (adds) parts.push(element("p", { class: "mm-note" }, "Bars: the norm of the vector that this block adds, divided by the norm of the residual stream (full width: 1)."));
  if (block.weights) {
    const read = block.sequence === last ? `; the framed row is ${numbered(tokens[step], step)}, and next to each head is the key that it attends to most` : "";
    parts.push(heads(block, sequences, last, step), element("p", { class: "mm-note" }, `Rows are queries, columns are keys${read}.`));
  }
  return parts;
}

function bar(part, isLater) {
  const inner = element("span", { style: `width: ${100 * Math.min(1, part)}%` });
  return element("span", { class: "mm-bar", title: part.toFixed(2), "data-later": isLater }, inner);
}

/** Return a map for each head. Rows are queries, columns are keys, and the selected query is framed. */
function heads(block, sequences, last, step) {
  const weights = bytes(block.weights, Uint8Array);
  const rows = sequences[block.sequence].length;
  const columns = weights.length / rows / block.heads;
  const keys = sequences[block.keys];
  const maps = Array.from({ length: block.heads }, (_, head) => {
    const canvas = element("canvas", { width: columns, height: rows });
    const image = new ImageData(columns, rows);
    const [red, green, blue] = [64, 138, 112];
    for (let i = 0; i < rows * columns; i++) image.data.set([red, green, blue, weights[head * rows * columns + i]], 4 * i);
    canvas.getContext("2d").putImageData(image, 0, 0);
    canvas.style.cssText = `aspect-ratio: ${columns} / ${rows}`;
    const band = element("div", { class: "mm-band", style: `top: ${(100 * step) / rows}%; height: ${100 / rows}%` });
    const shown = element("div", { class: "mm-picture" }, canvas, block.sequence === last ? band : "");
    const mostAttended = block.sequence === last ? `: ${numbered(...mostRead(weights, head, { rows, columns, step, keys }))}` : "";
    return element("div", { class: "mm-head" }, `head ${head}${mostAttended}`, shown);
  });
  return element("div", { class: "mm-heads" }, ...maps);
}

/** Return the key that a query attends to most in a head, and its position. */
function mostRead(weights, head, { rows, columns, step, keys }) {
  const row = weights.subarray((head * rows + step) * columns, (head * rows + step + 1) * columns);
  const place = row.indexOf(Math.max(...row));
  return [keys[place], place];
}

/** Return a table of next tokens, most probable first. The actual next token is marked; after the last token, each row is a button that appends its token. */
function candidates(found, tokens, step, append) {
  const rows = found.map(([name, p]) => {
    const followed = tokens[step + 1] === name;
    return element(
      "tr",
      { "data-followed": followed },
      element("th", { scope: "row" }, append ? button(visible(name), () => append(name)) : visible(name)),
      element("td", { class: "mm-p" }, element("span", { style: `width: ${100 * p}%` })),
      element("td", {}, `${(100 * p).toFixed(1)} %`),
    );
  });
  return [element("h5", {}, `After ${numbered(tokens[step], step)}`), element("table", {}, element("tbody", {}, ...rows))];
}
