// The attention explorer: queries on the left, keys on the right, lines between them, and a map for each head.

import { viridis } from "./colours.mjs";
import { arrowKeys, choice, tick } from "./controls.mjs";
import { attributes, element, svg } from "./dom.mjs";
import { visible } from "./tokens.mjs";
import { oncePerFrame } from "./view.mjs";
import { largest, line, paint, palette, table, unpack } from "./weights.mjs";

const ALL_HEADS = -1;
const ROW = 24; // height of a token, in pixels
const GAP = 150; // width of the lines between the columns
const GREY = [185, 185, 185]; // what is hidden, as in the still picture
const MAP = 260; // width of the map of one head, and of a small one of many
const SMALL = 92;
const FAINT = 0.01; // weights below this get no line

export function draw(view) {
  const index = view.get("index");
  const numbers = unpack(view.get("weights"));
  const colours = palette(viridis, GREY);
  const { controls, body } = view.frame({
    name: "Attention explorer",
    help:
      "Point at a token, tap it, or move with Tab and the arrow keys. Dark is a weight of 0, bright yellow of 1; grey " +
      "cells and struck-out tokens are hidden by the mask.",
  });
  const shown = () => {
    const { start, heads, queries, keys } = index.tables[view.get("layer")][view.get("sentence")];
    const [rows, columns] = [index.sequences[queries], index.sequences[keys]];
    return { ...table(numbers, start, heads, rows.length, columns.length), queries: rows, keys: columns };
  };
  addControls(view, controls, index, shown);

  const scene = element("div", { class: "ae-scene" });
  body.append(scene);
  let columns = null;
  let maps = null;

  /** Draw what depends on the layer and the sentence: the maps, and the tokens if they are others than before. */
  function build() {
    const now = shown();
    const isSame = columns && columns.queries === now.queries && columns.keys === now.keys;
    columns = isSame ? columns : tokenColumns(view, now);
    maps = headMaps(view, now, colours);
    scene.replaceChildren(columns.root, maps.root);
    mark();
  }

  /** Draw what depends on the selected token. */
  function mark() {
    const now = shown();
    const selected = selection(view, now);
    columns.mark(now, selected, view.get("head"), view.get("numbers"));
    maps.mark(selected);
    view.say(sentence(now, selected, view.get("head")));
  }

  view.follow(["layer", "sentence", "head"], oncePerFrame(build));
  view.follow(["query", "key", "numbers"], oncePerFrame(() => columns && mark()));
}

/** Return the selected query or key; the other is null, and both are if nothing is selected or it is out of range. */
function selection(view, now) {
  const within = (i, n) => (i !== null && i < n ? i : null);
  return { query: within(view.get("query"), now.nQuery), key: within(view.get("key"), now.nKey) };
}

function addControls(view, controls, index, shown) {
  const nSentences = index.tables[0].length;
  if (nSentences > 1) {
    const beginning = (i) => index.sequences[index.tables[0][i].queries].slice(0, 6).join(" ");
    const options = index.tables[0].map((_, i) => [i, `${i}: ${beginning(i)}`]);
    controls.append(choice(view, { trait: "sentence", label: "sentence", options }));
  }
  if (index.layers.length > 1) {
    const options = index.layers.map((name, i) => [i, name]);
    controls.append(choice(view, { trait: "layer", label: "layer", options }));
  }
  const heads = () => Array.from({ length: shown().heads }, (_, i) => [i, String(i)]);
  controls.append(
    choice(view, { trait: "head", label: "head", options: () => [[ALL_HEADS, "all"], ...heads()], when: ["layer"] }),
    tick(view, { trait: "numbers", label: "numbers" }),
  );
}

/** Return the two columns of tokens with the lines between them, and the function that marks a selection in them. */
function tokenColumns(view, now) {
  const sides = { query: now.queries, key: now.keys };
  const spans = {};
  const height = ROW * Math.max(now.nQuery, now.nKey);
  const lines = svg("svg", { class: "ae-lines", width: GAP, height, "aria-hidden": "true" });
  const strokes = Array.from({ length: Math.max(now.nQuery, now.nKey) }, () => lines.appendChild(svg("line")));
  const columns = Object.entries(sides).map(([side, tokens]) => {
    spans[side] = tokens.map((token, i) => tokenSpan(view, side, token, i));
    arrowKeys(spans[side].map(({ span }) => span));
    const label = side === "query" ? "Queries" : "Keys";
    return element(
      "div",
      { class: `ae-column ae-${side}` },
      element("div", { class: "ae-side", "aria-hidden": "true" }, side === "query" ? "query" : "key"),
      element("div", { class: "ae-tokens", role: "group", "aria-label": label }, ...spans[side].map(({ span }) => span)),
    );
  });
  const root = element("div", { class: "ae-columns", tabindex: -1 }, columns[0], lines, columns[1]);

  /** Draw a selection. Most weights of a long text are next to 0 before and after: only what changes is written. */
  function mark(now, selected, head, withNumbers) {
    const side = selected.query !== null ? "query" : selected.key !== null ? "key" : null;
    const other = side === "query" ? "key" : "query";
    const weights = side && line(now, head, selected);
    for (const [name, tokens] of Object.entries(spans))
      tokens.forEach((token, i) => {
        const weight = side && name === other ? weights[i] : undefined;
        token.show({ weight, isSelected: name === side && i === selected[side], withNumbers });
      });
    const joined = side ? (i) => joins(side, selected, i, weights[i]) : strongest(now, head);
    strokes.forEach((stroke, i) => {
      const { from, to, weight } = joined(i);
      attributes(stroke, { display: !(weight >= FAINT) && "none" });
      if (!(weight >= FAINT)) return;
      attributes(stroke, { x1: 0, y1: ROW * (from + 0.5), x2: GAP, y2: ROW * (to + 0.5) });
      attributes(stroke, { "stroke-width": 1 + 7 * weight, "stroke-opacity": 0.25 + 0.75 * weight });
    });
  }
  return { ...now, root, mark };
}

/** Return the line between the selected token and one of the other side. */
function joins(side, selected, i, weight) {
  return side === "query" ? { from: selected.query, to: i, weight } : { from: i, to: selected.key, weight };
}

/** Return a function from a query to the line to its largest weight: what is drawn as long as nothing is selected. */
function strongest(now, head) {
  return (query) => {
    const weights = query < now.nQuery ? line(now, head, { query }) : [];
    const [key] = largest(weights, 1);
    return { from: query, to: key, weight: weights[key] };
  };
}

/** Return a token that is selected by pointing at it, tapping it, or giving it the focus, and what shows its state. */
function tokenSpan(view, side, text, i) {
  const number = element("span", { class: "ae-number" });
  const span = element(
    "span",
    { class: "ae-token", role: "button", "aria-pressed": "false", title: `${side} ${i}` },
    element("span", { class: "ae-text" }, visible(text)),
    number,
  );
  const select = () => {
    if (view.get(side) !== i) view.pass(side === "query" ? { query: i, key: null } : { query: null, key: i });
  };
  for (const event of ["pointerenter", "focus", "click"]) span.addEventListener(event, select);

  let before = {};
  /** Show a weight (null if it is hidden, undefined if no token of the other side is selected), and a selection. */
  function show({ weight, isSelected, withNumbers }) {
    const written = weight === undefined ? "" : weight === null ? "hidden" : weight.toFixed(2);
    if (written !== before.written) {
      attributes(span, { "data-hidden": weight === null });
      span.style.setProperty("--weight", Number(written) || 0);
    }
    if (isSelected !== before.isSelected) attributes(span, { "aria-pressed": String(isSelected) });
    const beside = withNumbers ? written : "";
    if (beside !== before.beside) number.textContent = beside;
    before = { written, isSelected, beside };
  }
  return { span, show };
}

/** Return a map for the head that is shown, or a small one for each, and the function that marks a selection in them. */
function headMaps(view, now, colours) {
  const chosen = view.get("head");
  const heads = chosen === ALL_HEADS ? Array.from({ length: now.heads }, (_, i) => i) : [chosen];
  const width = heads.length > 1 ? SMALL : MAP;
  const maps = heads.map((head) => headMap(view, now, head, width, colours, heads.length > 1));
  if (maps.length > 1) arrowKeys(maps.map((map) => map.root), Math.min(4, maps.length));
  const columns = `repeat(${Math.min(4, maps.length)}, minmax(0, max-content))`;
  const root = element("div", { class: "ae-maps", style: `grid-template-columns: ${columns}` });
  root.append(...maps.map((map) => map.root));
  return { root, mark: (selected) => maps.forEach((map) => map.mark(selected)) };
}

function headMap(view, now, head, width, colours, isSmall) {
  const { nQuery, nKey } = now;
  const cell = Math.min(width / Math.max(nQuery, nKey), ROW);
  const canvas = element("canvas", { width: nKey, height: nQuery });
  const context = canvas.getContext("2d");
  const image = context.createImageData(nKey, nQuery);
  paint(now.of(head), colours, image.data);
  context.putImageData(image, 0, 0);

  const band = element("div", { class: "ae-band" });
  const picture = element("div", { class: "ae-picture", style: `width: ${cell * nKey}px; aspect-ratio: ${nKey} / ${nQuery}` }, canvas, band);
  const name = `head ${head}`;
  const root = isSmall
    ? element("button", { type: "button", class: "ae-map", "aria-label": `show ${name} alone` }, name, picture)
    : element("div", { class: "ae-map" }, name, picture);
  if (isSmall) root.addEventListener("click", () => view.set({ head }));
  canvas.addEventListener("pointermove", (event) => {
    const query = Math.min(nQuery - 1, Math.max(0, Math.floor((nQuery * event.offsetY) / canvas.clientHeight)));
    if (view.get("query") !== query) view.pass({ query, key: null });
  });

  function mark({ query, key }) {
    band.style.display = query === null && key === null ? "none" : "";
    const [top, left] = [query ?? 0, key ?? 0];
    const [rows, columns] = [query === null ? nQuery : 1, key === null ? nKey : 1];
    const place = { top: top / nQuery, left: left / nKey, height: rows / nQuery, width: columns / nKey };
    for (const [side, part] of Object.entries(place)) band.style[side] = `${100 * part}%`;
  }
  return { root, mark };
}

/** Return what is selected and where it attends, in words. */
function sentence(now, selected, head) {
  const where = head === ALL_HEADS ? (now.heads > 1 ? `average of ${now.heads} heads` : "head 0") : `head ${head}`;
  if (selected.query === null && selected.key === null) return `${now.nQuery} queries, ${now.nKey} keys, ${where}; lines lead to each query's largest weight.`;
  const isQuery = selected.query !== null;
  const weights = line(now, head, selected);
  const names = isQuery ? now.keys : now.queries;
  const top = largest(weights, 3).map((i) => `${visible(names[i])} ${weights[i].toFixed(2)}`);
  const hidden = weights.filter((weight) => weight === null).length;
  const first = isQuery ? `Query ${visible(now.queries[selected.query])}` : `Key ${visible(now.keys[selected.key])}`;
  const verb = isQuery ? "attends most to" : "is attended to most by";
  const rest = hidden ? `; ${hidden} hidden` : "";
  return top.length ? `${first} ${verb} ${top.join(", ")} (${where}${rest}).` : `${first}: all hidden (${where}).`;
}
