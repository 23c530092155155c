// The lookup dial: a query that can be dragged among keys in the plane.

import { choice } from "./controls.mjs";
import { attributes, element, label, svg } from "./dom.mjs";
import { drag } from "./drag.mjs";
import { lookUp } from "./lookup_math.mjs";
import { plain, written } from "./numbers.mjs";
import { stops } from "./stops.mjs";
import { oncePerFrame } from "./view.mjs";

const SIZE = 320;
const ROOM = 1.45; // size of the plane relative to the longest arrow, which leaves room for names
const STATE = ["query", "temperature", "d_k", "divisor", "values"];
const TEMPERATURES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const DIRECTIONS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const WIDTHS = Array.from({ length: 10 }, (_, i) => 2 ** (i + 1));

export function draw(view) {
  const { controls, body } = view.frame({
    name: "Lookup dial",
    help: "Drag the blue arrow, or select it with Tab and move it with the arrow keys (hold Shift to move it further).",
  });
  controls.append(stops(view, { trait: "temperature", label: "temperature", values: TEMPERATURES }));
  if (view.get("widths")) controls.append(...widths(view));
  const layout = body.appendChild(element("div", { class: "tl-dial" }));
  const plane = drawPlane(view);
  const table = drawTable(view);
  layout.append(plane.root, table.root);
  const redraw = oncePerFrame(() => {
    const state = Object.fromEntries(STATE.map((trait) => [trait, view.get(trait)]));
    const found = lookUp({ ...state, keys: view.get("key_vectors") });
    plane.redraw(found);
    table.redraw(found);
    view.say(inWords(view, found));
  });
  view.follow(STATE, redraw);
}

function widths(view) {
  return [
    stops(view, { trait: "d_k", label: "width d_k", values: WIDTHS }),
    choice(view, {
      trait: "divisor",
      label: "divide scores by",
      options: [
        ["1", "1"],
        ["√d_k", "√d_k"],
        ["d_k", "d_k"],
      ],
    }),
  ];
}

function inWords(view, { weights, output, entropy }) {
  const listed = view.get("key_names").map((name, i) => `${name} ${weights[i].toFixed(2)}`);
  return `Weights: ${listed.join(", ")}. Output ${written(output)}, entropy ${entropy.toFixed(2)} of 1.`;
}

/** Draw the arrows. The plane is a square around the origin that does not change while the query moves. */
function drawPlane(view) {
  const reach = ROOM * Math.max(...view.get("key_vectors").concat([view.get("query")]).flat().map(Math.abs), 1e-6);
  const across = (x) => (SIZE / 2) * (1 + x / reach);
  const down = (y) => (SIZE / 2) * (1 - y / reach);
  const root = svg("svg", { class: "tl-plane", viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": "plane" });
  root.append(
    svg("line", { class: "tl-grid", x1: 0, x2: SIZE, y1: SIZE / 2, y2: SIZE / 2 }),
    svg("line", { class: "tl-grid", y1: 0, y2: SIZE, x1: SIZE / 2, x2: SIZE / 2 }),
    label(`${view.get("axis_names")[0]} →`, SIZE - 6, SIZE - 7, "end", "tl-axis-name"),
    label(`${view.get("axis_names")[1]} ↑`, 6, 14, "start", "tl-axis-name"),
  );
  const keys = view.get("key_vectors").map(([x, y], i) => {
    const key = arrow("tl-key", "beyond");
    key.point(across(x), down(y), view.get("key_names")[i]);
    root.append(key.root);
    return key;
  });
  moveApart(keys.map(({ text }) => text));
  const query = arrow("tl-query", "below");
  const handle = svg("circle", {
    class: "tl-handle",
    r: 11,
    tabindex: 0,
    role: "slider",
    "aria-label": `${view.get("query_name")} (query)`,
    "aria-roledescription": "arrow in the plane",
    "aria-valuemin": 0,
    "aria-valuemax": (reach * Math.SQRT2).toFixed(2),
  });
  root.append(query.root, ...keys.map(({ text }) => text), handle); // names in front of all arrows

  const within = (number) => Math.round(100 * Math.min(Math.max(number, -reach), reach)) / 100;
  const move = (x, y) => view.set({ query: [within(x), within(y)] });
  handle.addEventListener("keydown", (event) => {
    const distance = event.shiftKey ? 0.2 : 0.05;
    const [right, up] = DIRECTIONS[event.key] ?? [0, 0];
    if (!right && !up) return;
    event.preventDefault();
    const [x, y] = view.get("query");
    move(x + right * distance * reach, y + up * distance * reach);
  });
  drag(root, (x, y) => move((2 * x / SIZE - 1) * reach, (1 - 2 * y / SIZE) * reach));
  root.addEventListener("pointerdown", () => handle.focus({ preventScroll: true }));

  return {
    root,
    redraw({ weights }) {
      const [x, y] = view.get("query");
      query.point(across(x), down(y), view.get("query_name"));
      attributes(handle, { cx: across(x), cy: down(y), "aria-valuenow": Math.hypot(x, y).toFixed(2) });
      const [first, second] = view.get("axis_names");
      attributes(handle, { "aria-valuetext": `${first} ${x.toFixed(2)}, ${second} ${y.toFixed(2)}` });
      keys.forEach((key, i) => key.weigh(weights[i]));
    },
  };
}

/** Create an arrow from the middle of the plane, with its name beyond its end or below it. */
function arrow(kind, side) {
  const line = svg("line", { x1: SIZE / 2, y1: SIZE / 2 });
  const head = svg("path");
  const text = svg("text", { "text-anchor": "middle" });
  return {
    root: svg("g", { class: kind }, line, head, text),
    text,
    point(x, y, name) {
      const [dx, dy] = [x - SIZE / 2, y - SIZE / 2];
      const length = Math.hypot(dx, dy) || 1;
      const [ux, uy] = [dx / length, dy / length];
      attributes(line, { x2: x - 6 * ux, y2: y - 6 * uy });
      const corner = (sign) => `${x - 11 * ux - sign * 5 * uy},${y - 11 * uy + sign * 5 * ux}`;
      attributes(head, { d: `M${x},${y}L${corner(1)}L${corner(-1)}Z`, visibility: length > 12 ? "visible" : "hidden" });
      const half = 3.6 * name.length;
      const [over, down] = side === "below" ? [0, y + 30 > SIZE ? -16 : 25] : [ux * (half + 6), 16 * uy + 5];
      const clamp = (place, least, most) => Math.min(Math.max(place, least), most);
      attributes(text, { x: clamp(x + over, half + 2, SIZE - half - 2), y: clamp(y + down, 12, SIZE - 4) });
      text.textContent = name;
    },
    weigh(weight) {
      attributes(line, { "stroke-width": 1.5 + 6 * weight, "stroke-opacity": 0.45 + 0.55 * weight });
    },
  };
}

/** Move overlapping names apart, upwards. */
function moveApart(texts) {
  const boxes = [];
  for (const text of texts) {
    const half = 3.6 * text.textContent.length;
    const [x, y] = [Number(text.getAttribute("x")), Number(text.getAttribute("y"))];
    const hit = (at) => boxes.some((box) => Math.abs(box.x - x) < box.half + half && Math.abs(box.y - at) < 12);
    let raised = y;
    while (raised > 12 && hit(raised)) raised -= 2;
    attributes(text, { y: raised });
    boxes.push({ x, y: raised, half });
  }
}

/** Draw a table of the keys with a bar for each weight, and a number line of the values and the output. */
function drawTable(view) {
  const rows = view.get("key_names").map((name, i) => {
    const score = element("td");
    const bar = element("span", { class: "tl-bar" });
    const weight = element("td");
    const value = element("td", {}, plain(view.get("values")[i]));
    const track = element("td", { class: "tl-track" }, bar);
    const row = element("tr", {}, element("th", { scope: "row" }, name), score, track, weight, value);
    return { row, score, bar, weight };
  });
  const names = ["key", "score", "", "weight", "value"].map((name) => element("th", { scope: "col" }, name));
  const head = element("thead", {}, element("tr", {}, ...names));
  const output = element("strong", { class: "tl-output" });
  const entropy = element("strong", { class: "tl-entropy" });
  const meter = element("span", { class: "tl-bar" });
  const line = drawLine(view);
  const root = element(
    "div",
    { class: "tl-found" },
    element("table", {}, head, element("tbody", {}, ...rows.map(({ row }) => row))),
    element("p", {}, "output, the weighted average of the values: ", output),
    line.root,
    element("p", {}, "entropy (0 if one key has the whole weight, 1 if all weights are equal): ", entropy),
    element("div", { class: "tl-track tl-meter" }, meter),
  );
  return {
    root,
    redraw(found) {
      rows.forEach(({ score, bar, weight }, i) => {
        score.textContent = written(found.scores[i]);
        bar.style.width = `${100 * found.weights[i]}%`;
        weight.textContent = found.weights[i].toFixed(2);
      });
      output.textContent = written(found.output);
      entropy.textContent = found.entropy.toFixed(2);
      meter.style.width = `${100 * found.entropy}%`;
      line.redraw(found.output);
    },
  };
}

function drawLine(view) {
  const values = view.get("values");
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const across = (value) => 12 + (236 * (value - least)) / (most - least || 1);
  const mark = svg("path", { class: "tl-mark" });
  const root = svg(
    "svg",
    { class: "tl-line", viewBox: "0 0 260 34", "aria-hidden": "true" },
    svg("line", { x1: 12, x2: 248, y1: 12, y2: 12 }),
    ...values.map((value) => svg("circle", { cx: across(value), cy: 12, r: 3.5 })),
    label(plain(least), 12, 31),
    label(plain(most), 248, 31, "end"),
    mark,
  );
  return { root, redraw: (output) => attributes(mark, { d: `M${across(output)},4l7,8l-7,8l-7,-8Z` }) };
}
