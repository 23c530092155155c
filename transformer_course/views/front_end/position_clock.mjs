// The position clock: two positions as two hands of every clock, and the dot product of one position with all others.

import { button, choice, slider } from "./controls.mjs";
import { attributes, element, label, svg } from "./dom.mjs";
import { drag } from "./drag.mjs";
import { plain, written } from "./numbers.mjs";
import { player } from "./player.mjs";
import { frequencies, hands, products, sum } from "./position_math.mjs";
import { stops } from "./stops.mjs";
import { oncePerFrame } from "./view.mjs";

const STATE = ["scheme", "query_position", "key_position", "base"];
const BASES = [10, 100, 1000, 10000, 100000, 500000, 1e6, 1e7, 1e8, 1e9];
const [WIDTH, HEIGHT, LEFT] = [440, 130, 34];
const POINTS_PER_POSITION = 8;
const FRAME_MILLISECONDS = 400;

export function draw(view) {
  const { controls, body } = view.frame({
    name: "Position clock",
    help:
      "Drag along the curve to move the key, or use the sliders. Turn, − 1 and + 1 move query and key together. θ is the " +
      "angle in radians by which a hand turns from one position to the next.",
  });
  controls.append(...knobs(view));
  const clocks = drawClocks(view);
  const curve = drawCurve(view);
  const total = element("strong", { class: "tl-product" });
  const line = element("p", { class: "tl-sum" }, ...legend(), "sum of all pairs, the dot product: ", total);
  body.append(clocks.root, line, curve.root);
  const redraw = oncePerFrame(() => {
    const parts = products(state(view));
    clocks.redraw(parts);
    curve.redraw();
    total.textContent = written(sum(parts));
    const [m, n] = [view.get("query_position"), view.get("key_position")];
    view.say(`Query at ${m}, key at ${n}, ${Math.abs(m - n)} apart: dot product ${written(sum(parts))}.`);
  });
  view.follow(STATE, redraw);
}

function legend() {
  const hand = (kind) => {
    const line = svg("line", { class: kind, x2: 26, y1: 4, y2: 4 });
    return svg("svg", { class: "tl-swatch", viewBox: "0 0 26 8", "aria-hidden": "true" }, line);
  };
  return [hand("tl-query"), "query ", hand("tl-key"), "key; "];
}

/** Return the arguments of `products`. `changes` overrides some of them. */
function state(view, changes = {}) {
  const [query, key] = [view.get("query_vector"), view.get("key_vector")];
  const [position, other] = [view.get("query_position"), view.get("key_position")];
  return { query, key, position, other, base: view.get("base"), scheme: view.get("scheme"), ...changes };
}

function knobs(view) {
  const last = view.get("length") - 1;
  const positions = () => [view.get("query_position"), view.get("key_position")];
  const move = (by) => {
    const [m, n] = positions().map((position) => position + by);
    if (Math.min(m, n) >= 0 && Math.max(m, n) <= last) view.set({ query_position: m, key_position: n });
  };
  const turn = player(view, {
    name: "turn",
    milliseconds: FRAME_MILLISECONDS,
    begin: () => Math.max(...positions()) === last && move(-Math.min(...positions())),
    onward() {
      move(1);
      return Math.max(...positions()) < last;
    },
  });
  const moves = [turn, button("− 1", () => move(-1)), button("+ 1", () => move(1))];
  const schemes = [
    ["sinusoidal", "sinusoidal encoding"],
    ["rotary", "RoPE on query and key"],
  ];
  return [
    choice(view, { trait: "scheme", label: "scheme", options: schemes }),
    slider(view, { trait: "query_position", label: "query at", min: 0, max: last, step: 1 }),
    slider(view, { trait: "key_position", label: "key at", min: 0, max: last, step: 1 }),
    element("span", { class: "tl-control", role: "group", "aria-label": "move both" }, "both", ...moves),
    stops(view, { trait: "base", label: "base", values: BASES, format: (base) => base.toLocaleString("en") }),
  ];
}

function drawClocks(view) {
  const faces = frequencies(view.get("query_vector").length, view.get("base")).map((_, i) => {
    const lines = ["tl-query", "tl-key"].map((kind) => svg("line", { class: kind, x1: 50, y1: 50 }));
    const ticks = [0, 90, 180, 270].map((angle) => {
      return svg("line", { class: "tl-tick", x1: 50, y1: 4, x2: 50, y2: 9, transform: `rotate(${angle} 50 50)` });
    });
    const face = svg("circle", { cx: 50, cy: 50, r: 46 });
    const picture = svg("svg", { viewBox: "0 0 100 100", "aria-hidden": "true" }, face, ...ticks, ...lines);
    const speed = element("small");
    const part = element("span", { class: "tl-part" });
    const root = element("div", { class: "tl-clock" }, element("b", {}, `pair ${i}`), speed, picture, part);
    return { root, lines, speed, part };
  });
  const root = element("div", { class: "tl-clocks" }, ...faces.map((face) => face.root));
  return {
    root,
    redraw(parts) {
      const { query, key, position, other, base, scheme } = state(view);
      const ends = [hands(query, position, base, scheme), hands(key, other, base, scheme)];
      const furthest = Math.max(...ends.flat().map(([x, y]) => Math.hypot(x, y)), 1e-6);
      const turns = frequencies(query.length, base);
      faces.forEach(({ lines, speed, part }, i) => {
        lines.forEach((line, k) => {
          const [x, y] = ends[k][i];
          attributes(line, { x2: 50 + (44 * x) / furthest, y2: 50 - (44 * y) / furthest });
        });
        speed.textContent = `θ = ${Number(turns[i].toPrecision(2))}`;
        part.textContent = written(parts[i]);
      });
    },
  };
}

/** Draw the dot product of the query at its current position with the key at every position. */
function drawCurve(view) {
  const last = view.get("length") - 1;
  const across = (position) => LEFT + ((WIDTH - LEFT - 10) * position) / last;
  const line = svg("path", { class: "tl-curve" });
  const [query, key] = ["tl-query", "tl-key"].map((kind) => svg("line", { class: kind, y1: 8, y2: HEIGHT - 22 }));
  const dot = svg("circle", { class: "tl-dot", r: 5 });
  const [high, low] = [14, HEIGHT - 22].map((y) => label("", LEFT - 6, y, "end"));
  const spacing = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((step) => last / step <= 8) ?? 10000;
  const marks = Array.from({ length: Math.floor(last / spacing) + 1 }, (_, i) => i * spacing);
  const root = svg(
    "svg",
    { class: "tl-chart", viewBox: `0 -18 ${WIDTH} ${HEIGHT + 36}`, role: "img", "aria-label": "dot product by position" },
    svg("line", { class: "tl-grid", x1: LEFT, x2: WIDTH - 10, y1: HEIGHT / 2 - 7, y2: HEIGHT / 2 - 7 }),
    label("dot product of query and key ↑", LEFT, -4),
    label("0", LEFT - 6, HEIGHT / 2 - 3, "end"),
    ...marks.map((position) => label(String(position), across(position), HEIGHT - 6, "middle")),
    label("position of the key →", WIDTH - 10, HEIGHT + 12, "end"),
    high,
    low,
    query,
    key,
    line,
    dot,
  );
  drag(root, (x) => {
    const position = Math.round(((x - LEFT) / (WIDTH - LEFT - 10)) * last);
    view.set({ key_position: Math.min(Math.max(position, 0), last) });
  });
  return {
    root,
    redraw() {
      const at = (other) => sum(products(state(view, { other })));
      const all = Array.from({ length: POINTS_PER_POSITION * last + 1 }, (_, i) => i / POINTS_PER_POSITION);
      const most = largest(view);
      const down = (value) => HEIGHT / 2 - 7 - (value / most) * (HEIGHT / 2 - 15);
      attributes(line, { d: `M${all.map((other) => `${across(other)},${down(at(other))}`).join("L")}` });
      high.textContent = plain(most);
      low.textContent = plain(-most);
      const [m, n] = [view.get("query_position"), view.get("key_position")];
      attributes(query, { x1: across(m), x2: across(m) });
      attributes(key, { x1: across(n), x2: across(n) });
      attributes(dot, { cx: across(n), cy: down(at(n)) });
    },
  };
}

/** Return the dot product if all pairs pointed in the same direction. */
function largest(view) {
  const { query, key, scheme } = state(view);
  if (scheme === "sinusoidal") return query.length / 2;
  const length = (vector, i) => Math.hypot(vector[2 * i], vector[2 * i + 1]);
  return sum(Array.from({ length: query.length / 2 }, (_, i) => length(query, i) * length(key, i))) || 1;
}
