// The attention explorer: queries on the left, keys on the right, lines between them, and a map for each head.

import { hue, viridis } from "./colors.mjs";
import { arrowKeys, button, choice, tick } from "./controls.mjs";
import { attributes, element, svg } from "./dom.mjs";
import { stops } from "./stops.mjs";
import { numbered, visible } from "./tokens.mjs";
import { oncePerFrame } from "./view.mjs";
import { atLeast, largest, line, paint, palette, table, unpack } from "./weights.mjs";

const ALL_HEADS = -1;
const ROW = 24; // height of a token, in pixels
const GAP = 200; // width of the space between the columns, in pixels
const GRAY = [185, 185, 185]; // color of masked weights, as in the still picture
const FAINT = 0.01; // smaller weights of a selected token get no line
const THRESHOLDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9];
const LEVELS = 10; // number of line strengths
const SPREAD = 12; // maximum width of the bundle of lines between two tokens, in pixels
const MAPS = [[1, 1, 300], [4, 2, 260], [9, 3, 170], [Infinity, 4, 125]]; // maximum number of heads, columns of maps, and size of a map in pixels
const NONE = { query: null, key: null };

export function draw(view) {
  const index = view.get("index");
  const numbers = unpack(view.get("weights"));
  const colors = palette(viridis, GRAY);
  const { root, controls, body } = view.frame({
    name: "Attention explorer",
    help:
      "Point at a token, tap it, or move with Tab and the arrow keys. Escape shows all lines again. Each head has a color and a tile that turns it off. " +
      "Thicker lines are larger weights. In the maps, dark is 0 and bright yellow is 1; gray cells and struck-out tokens are masked out.",
  });
  const shown = () => {
    const { start, heads, first, queries, keys } = index.tables[view.get("layer")][view.get("sentence")];
    const [rows, columns] = [index.sequences[queries], index.sequences[keys]];
    return { ...table(numbers, start, heads, rows.length, columns.length), first, queries: rows, keys: columns };
  };
  addControls(view, controls, index, shown);
  const tiles = controls.appendChild(element("span", { class: "tl-control", role: "group", "aria-label": "heads" }));

  const scene = body.appendChild(element("div", { class: "ae-scene" }));
  const hand = pointing(view, root);
  let columns = null;
  let maps = null;

  /** Draw everything that depends on the layer and the sentence: the maps and, if they have changed, the tokens. */
  function build() {
    const now = shown();
    root.style.setProperty("--heads", now.heads);
    const isSame = columns && ["queries", "keys", "first", "heads"].every((part) => columns[part] === now[part]);
    columns = isSame ? columns : tokenColumns(hand, now);
    maps = headMaps(view, hand, now, colors);
    hand.keep(() => scene.replaceChildren(columns.root, maps.root));
    tiles.replaceChildren(...headTiles(view, now.heads));
    mark();
  }

  /** Draw everything that depends on the selected token and head. */
  function mark() {
    const now = shown();
    const selected = selection(view, now);
    const chosen = Math.min(view.get("head"), now.heads - 1);
    const heads = chosen === ALL_HEADS ? headsOn(view, now.heads) : [chosen];
    columns.mark(now, selected, heads, view.get("threshold"), view.get("numbers"));
    maps.mark(selected, chosen, heads);
    [...tiles.children].forEach((tile, head) => attributes(tile, { "aria-pressed": String(heads.includes(head)) }));
    view.say(sentence(now, selected, heads, view.get("threshold")));
  }

  view.follow(["layer", "sentence"], oncePerFrame(build));
  view.follow(["head", "off", "query", "key", "numbers", "threshold"], oncePerFrame(() => columns && mark()));
}

/** Return the heads that are switched on, or all heads if none is. */
function headsOn(view, n) {
  const all = Array.from({ length: n }, (_, i) => i);
  const on = all.filter((head) => !view.get("off").includes(head));
  return on.length ? on : all;
}

/** Return a tile for each head, in the color of the head, that turns it off and on while all heads are shown. */
function headTiles(view, n) {
  return Array.from({ length: n > 1 ? n : 0 }, (_, head) => {
    const tile = button(String(head), () => {
      const on = headsOn(view, n);
      const next = view.get("head") !== ALL_HEADS ? [head] : on.includes(head) ? on.filter((other) => other !== head) : [...on, head];
      view.set({ head: ALL_HEADS, off: Array.from({ length: n }, (_, i) => i).filter((i) => !next.includes(i)) });
    });
    attributes(tile, { class: "ae-tile", style: colorOf(head, n), "aria-label": `head ${head}` });
    return tile;
  });
}

/** Return the indices of the selected query and key. At most one is not null, and only if it is in range. */
function selection(view, now) {
  const within = (i, n) => (i !== null && i < n ? i : null);
  return { query: within(view.get("query"), now.nQuery), key: within(view.get("key"), now.nKey) };
}

/**
 * Return the functions that select tokens:
 * - `over(selected)`: select a token for as long as the pointer is on it;
 * - `off()`: the pointer has left the tokens;
 * - `choose(selected)`: select a token until Escape, a click next to the tokens, or the focus leaving the view;
 * - `keep(rebuild)`: run a function that may remove the focused token, without deselecting it.
 */
function pointing(view, root) {
  const now = () => ({ query: view.get("query"), key: view.get("key") });
  const isNow = ({ query, key }) => query === view.get("query") && key === view.get("key");
  let isOver = false;
  let isKept = false;
  let kept = NONE; // the selection to restore when the pointer has left
  const hand = {
    over(selected) {
      if (!isOver) kept = now();
      isOver = true;
      if (!isNow(selected)) view.pass(selected);
    },
    off() {
      if (isOver && !isNow(kept)) view.pass(kept);
      isOver = false;
    },
    choose(selected) {
      kept = selected;
      if (!isNow(selected)) view.set(selected);
    },
    keep(rebuild) {
      isKept = true;
      rebuild();
      isKept = false;
    },
  };
  root.addEventListener("keydown", (event) => event.key === "Escape" && hand.choose(NONE));
  root.addEventListener("focusout", ({ relatedTarget }) => {
    if (!isKept && document.hasFocus() && !root.contains(relatedTarget)) hand.choose(NONE);
  });
  root.addEventListener("click", ({ target }) => target.closest(".ae-token, .ae-maps, .tl-controls") || hand.choose(NONE));
  return hand;
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
    stops(view, { trait: "threshold", label: "minimum weight", values: THRESHOLDS, format: (weight) => weight.toFixed(2) }),
    tick(view, { trait: "numbers", label: "numbers" }),
  );
}

/** Return the two columns of tokens with the lines between them, and a function that marks a selection in them. */
function tokenColumns(hand, now) {
  const sides = { query: [now.queries, now.first], key: [now.keys, 0] };
  const spans = {};
  const height = ROW * Math.max(now.first + now.nQuery, now.nKey);
  const lines = svg("svg", { class: "ae-lines", viewBox: `0 0 ${GAP} ${height}`, preserveAspectRatio: "none", height, "aria-hidden": "true" });
  const strokes = Array.from({ length: now.heads }, (_, head) =>
    Array.from({ length: LEVELS }, (_, level) => {
      const strength = (level + 0.5) / LEVELS;
      const looks = { "stroke-width": 0.6 + 5 * strength, "stroke-opacity": 0.2 + 0.75 * strength };
      return svg("path", { style: colorOf(head, now.heads), ...looks });
    }),
  );
  for (let level = 0; level < LEVELS; level++) lines.append(...strokes.map((levels) => levels[level])); // strong lines on top
  const columns = Object.entries(sides).map(([side, [tokens, first]]) => {
    spans[side] = tokens.map((token, i) => tokenSpan(hand, side, token, i, first + i, now.heads));
    arrowKeys(spans[side].map(({ span }) => span));
    const label = side === "query" ? "Queries" : "Keys";
    const style = `margin-top: ${first * ROW}px`;
    const group = element("div", { class: "ae-tokens", role: "group", "aria-label": label, style });
    group.append(...spans[side].map(({ span }) => span));
    group.addEventListener("pointerleave", hand.off);
    return element("div", { class: `ae-column ae-${side}` }, element("div", { class: "ae-side", "aria-hidden": "true" }, side), group);
  });
  const root = element("div", { class: "ae-columns", tabindex: -1 }, columns[0], lines, columns[1]);

  function mark(now, selected, heads, threshold, withNumbers) {
    const side = selected.query !== null ? "query" : selected.key !== null ? "key" : null;
    const other = side === "query" ? "key" : "query";
    const weights = side && heads.map((head) => line(now, head, selected));
    for (const [name, tokens] of Object.entries(spans))
      tokens.forEach((token, i) => {
        const ofHeads = side && name === other ? weights.map((line) => line[i]) : null;
        token.show({ heads, weights: ofHeads, isSelected: name === side && i === selected[side], withNumbers });
      });
    const drawn = strokes.map(() => Array.from({ length: LEVELS }, () => ""));
    const apart = heads.length > 1 ? Math.min(3, SPREAD / (heads.length - 1)) : 0;
    heads.forEach((head, nth) => {
      const aside = (nth - (heads.length - 1) / 2) * apart;
      for (const [query, key, weight] of atLeast(now, head, side ? FAINT : threshold)) {
        if (side && selected[side] !== (side === "query" ? query : key)) continue;
        const [from, to] = [now.first + query, key].map((row) => ROW * (row + 0.5) + aside);
        drawn[head][Math.min(LEVELS - 1, Math.floor(weight * LEVELS))] += `M0 ${from}L${GAP} ${to}`;
      }
    });
    strokes.forEach((levels, head) => levels.forEach((path, level) => attributes(path, { d: drawn[head][level] || null })));
  }
  return { ...now, root, mark };
}

/** Return the style attribute that gives an element the color of a head. */
function colorOf(head, heads) {
  return `--hue: ${hue(head, heads)}; --lift: ${head % 2}`;
}

/** Return an element for a token, which pointing, tapping and focus select, and a function that shows its state. */
function tokenSpan(hand, side, text, i, position, heads) {
  const number = element("span", { class: "ae-number" });
  const cells = Array.from({ length: heads }, (_, head) => element("span", { class: "ae-cell", style: colorOf(head, heads) }));
  const span = element(
    "span",
    { class: "ae-token", role: "button", "aria-pressed": "false", "aria-label": `${visible(text)}, position ${position}` },
    element("span", { class: "ae-position" }, position),
    element("span", { class: "ae-text" }, visible(text)),
    number,
    element("span", { class: "ae-cells" }, ...cells),
  );
  const mine = { ...NONE, [side]: i };
  span.addEventListener("pointerenter", () => hand.over(mine));
  for (const event of ["focus", "click"]) span.addEventListener(event, () => hand.choose(mine));

  let before = "";
  /** Show the token's weight in each head, and whether it is selected. `weights` is null if no token of the other side is selected; a masked weight is null. */
  function show({ heads, weights, isSelected, withNumbers }) {
    const now = JSON.stringify([heads, weights, isSelected, withNumbers]);
    if (now === before) return; // avoids changing elements: most weights of a long text stay the same
    before = now;
    const isHidden = weights?.every((weight) => weight === null);
    const best = weights && !isHidden ? largest(weights, 1)[0] : null;
    attributes(span, { "data-hidden": isHidden, "aria-pressed": String(isSelected) });
    cells.forEach((cell, head) => (cell.style.opacity = weights?.[heads.indexOf(head)] ?? 0));
    number.textContent = !weights || !withNumbers ? "" : isHidden ? "hidden" : weights[best].toFixed(2);
    number.style.cssText = best === null ? "" : colorOf(heads[best], cells.length);
    attributes(number, { "data-head": best !== null && cells.length > 1 });
  }
  return { span, show };
}

/** Return a map for each head, and a function that marks a selection in the maps. */
function headMaps(view, hand, now, colors) {
  const [, columns, width] = MAPS.find(([most]) => now.heads <= most);
  const maps = Array.from({ length: now.heads }, (_, head) => headMap(view, hand, now, head, width, colors));
  if (maps.length > 1) arrowKeys(maps.map((map) => map.root));
  const root = element("div", { class: "ae-maps", style: `--width: ${width}px; --columns: ${columns}` }, ...maps.map((map) => map.root));
  root.addEventListener("pointerleave", hand.off);
  return { root, mark: (...now) => maps.forEach((map) => map.mark(...now)) };
}

function headMap(view, hand, now, head, width, colors) {
  const { nQuery, nKey } = now;
  const cell = Math.min(width / Math.max(nQuery, nKey), 2 * ROW);
  const canvas = element("canvas", { width: nKey, height: nQuery });
  const context = canvas.getContext("2d");
  const image = context.createImageData(nKey, nQuery);
  paint(now.of(head), colors, image.data);
  context.putImageData(image, 0, 0);

  const band = element("div", { class: "ae-band" });
  const picture = element("div", { class: "ae-picture", style: `width: ${cell * nKey}px; aspect-ratio: ${nKey} / ${nQuery}` }, canvas, band);
  const name = element("span", { class: "ae-head", style: colorOf(head, now.heads) }, `head ${head}`);
  const isButton = now.heads > 1;
  const root = isButton
    ? element("button", { type: "button", class: "ae-map", "aria-label": `show head ${head} alone` }, name, picture)
    : element("div", { class: "ae-map" }, name, picture);
  if (isButton) root.addEventListener("click", () => view.set({ head: view.get("head") === head ? ALL_HEADS : head }));
  canvas.addEventListener("pointermove", (event) => {
    const query = Math.min(nQuery - 1, Math.max(0, Math.floor((nQuery * event.offsetY) / canvas.clientHeight)));
    hand.over({ ...NONE, query });
  });

  function mark({ query, key }, chosen, heads) {
    if (isButton) attributes(root, { "aria-pressed": String(chosen === head), "data-other": !heads.includes(head) });
    band.style.display = query === null && key === null ? "none" : "";
    const [top, left] = [query ?? 0, key ?? 0];
    const [rows, columns] = [query === null ? nQuery : 1, key === null ? nKey : 1];
    const place = { top: top / nQuery, left: left / nKey, height: rows / nQuery, width: columns / nKey };
    for (const [side, part] of Object.entries(place)) band.style[side] = `${100 * part}%`;
  }
  return { root, mark };
}

/** Describe the selection in a sentence: the three largest weights if one head is shown, the largest weight of each head otherwise. */
function sentence(now, selected, heads, threshold) {
  const where = heads.length > 1 ? `${heads.length} heads` : `head ${heads[0]}`;
  if (selected.query === null && selected.key === null)
    return `${now.nQuery} queries, ${now.nKey} keys, ${where}; lines show weights of at least ${threshold.toFixed(2)}.`;
  const isQuery = selected.query !== null;
  const [queries, keys] = [(i) => numbered(now.queries[i], now.first + i), (i) => numbered(now.keys[i], i)];
  const name = isQuery ? keys : queries;
  const lines = heads.map((head) => line(now, head, selected));
  const written = (nth, i) => `${name(i)} ${lines[nth][i].toFixed(2)}`;
  const top =
    heads.length > 1
      ? heads.flatMap((head, nth) => largest(lines[nth], 1).map((i) => `${written(nth, i)} (head ${head})`))
      : largest(lines[0], 3).map((i) => written(0, i));
  const hidden = lines[0].filter((_, i) => lines.every((line) => line[i] === null)).length;
  const first = isQuery ? `Query ${queries(selected.query)}` : `Key ${keys(selected.key)}`;
  const verb = isQuery ? "attends most to" : "is attended to most by";
  const rest = [heads.length > 1 ? "" : where, hidden ? `${hidden} masked out` : ""].filter(Boolean).join("; ");
  return top.length ? `${first} ${verb} ${top.join(", ")}${rest && ` (${rest})`}.` : `${first}: all masked out (${where}).`;
}
