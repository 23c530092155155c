// The training view. Elements are created once and then changed in place, so that nothing flickers or grows.

import { ink, tint } from "./colors.mjs";
import { button } from "./controls.mjs";
import { attributes, element, svg } from "./dom.mjs";
import { progressChart, ticksOf } from "./progress_chart.mjs";
import { visible } from "./tokens.mjs";
import { oncePerFrame } from "./view.mjs";

const MAX_SCORES = 4;

export function draw(view) {
  const stop = stopButton(view);
  const action = stop.length ? "Stop, or interrupting the kernel (■)," : "Interrupting the kernel (■)";
  const { root, controls, body } = view.frame({
    name: "Training",
    help: `${action} ends the run after the current step. The model keeps its parameters, and you can continue training.`,
  });
  controls.append(progress(view), ...stop);
  body.append(element("div", { class: "tl-training" }, charts(view), sample(view)));
  view.follow(["state", "scored_at"], () => view.say(inWords(view)));
  view.follow(["state"], () => (root.querySelector(".tl-help").hidden = view.get("state") === "finished"));
}

/** Describe the state of the run and its last numbers. It changes with the state and the scores, not at every step. */
function inWords(view) {
  const loss = view.get("curve").at(-1);
  const numbers = Object.entries(view.get("scores")).map(([name, values]) => `${name} ${written(values.at(-1))}`);
  const listed = [...(loss ? [`loss ${written(loss[1])}`] : []), ...numbers].join(", ");
  const kept = view.get("state") === "stopped" ? " The model keeps the parameters of this step." : "";
  return `Training is ${view.get("state")}: step ${view.get("step")} of ${view.get("n_steps")}${listed ? `, ${listed}` : ""}.${kept}`;
}

/** Format a number, which is null if the run has diverged. */
function written(number) {
  return number === null ? "not a number" : number.toFixed(2);
}

function progress(view) {
  const bar = element("progress", { "aria-label": "steps taken" });
  const text = element("span");
  const redraw = oncePerFrame(() => {
    bar.max = view.get("n_steps");
    bar.value = view.get("step");
    const left = view.get("seconds_left");
    const estimate = typeof left === "number" && view.get("state") === "running" ? `, ${timeLeft(left)}` : "";
    text.textContent = `step ${view.get("step")} of ${view.get("n_steps")}${estimate}`;
  });
  view.follow(["step", "n_steps", "seconds_left", "state"], redraw);
  return element("span", { class: "tl-control" }, bar, text);
}

/** Format the estimated time for the rest of the run. */
export function timeLeft(seconds) {
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} s left`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `about ${minutes} min left` : `about ${(minutes / 60).toFixed(1)} h left`;
}

/** Create the button that interrupts the kernel, if the notebook gives access to the kernel. */
function stopButton(view) {
  const kernel = view.model.widget_manager?.kernel;
  if (!kernel?.interrupt) return [];
  const node = button("Stop", () => kernel.interrupt());
  view.follow(["state"], () => {
    attributes(node, { disabled: view.get("state") !== "running" });
    node.hidden = view.get("state") === "finished"; // a finished run cannot be stopped
  });
  return [node];
}

function charts(view) {
  const losses = progressChart({ caption: "loss", n: MAX_SCORES });
  const scores = progressChart({ caption: "scores", n: MAX_SCORES });
  const [lossNames, scoreNames] = [0, 1].map(() => element("ul", { class: "tl-legend" }));
  const others = element("div", {}, scores.root, scoreNames);
  const redraw = oncePerFrame(() => {
    const steps = view.get("n_steps");
    const named = Object.entries(view.get("scores")).map(([name, values]) => {
      return { name, last: values.at(-1), curve: values.map((value, i) => [view.get("scored_at")[i], value]) };
    });
    const training = { name: "training loss", last: view.get("curve").at(-1)?.[1] ?? null, curve: view.get("curve") };
    const [ofLosses, ofScores] = splitLosses(named);
    show(losses, lossNames, [training, ...ofLosses].slice(0, MAX_SCORES), steps, false);
    show(scores, scoreNames, ofScores.slice(0, MAX_SCORES), steps, true);
    lossNames.hidden = !ofLosses.length; // a single curve is named by the caption
    others.hidden = ofLosses.length > 0 && !ofScores.length;
  });
  view.follow(["curve", "scores", "scored_at", "n_steps"], redraw);
  return element("div", { class: "tl-charts" }, element("div", {}, losses.root, lossNames), others);
}

/** Split scores into losses, which are drawn in the chart of the training loss, and all others. */
export function splitLosses(named) {
  return [true, false].map((isLoss) => named.filter(({ name }) => name.endsWith("loss") === isLoss));
}

function show(chart, legend, lines, steps, fractions) {
  const curves = lines.map(({ curve }) => curve);
  chart.redraw({ steps, curves, ticks: ticksOf(curves, fractions) });
  explain(legend, lines);
}

/** Write the legend: the names of the curves with their last numbers. */
function explain(legend, lines) {
  while (legend.children.length < lines.length) {
    const line = svg("line", { class: `tl-curve tl-curve-${legend.children.length}`, x1: 0, x2: 26, y1: 6, y2: 6 });
    legend.append(element("li", {}, svg("svg", { width: 26, height: 12, "aria-hidden": "true" }, line), element("span")));
  }
  lines.forEach(({ name, last }, i) => {
    legend.children[i].lastChild.textContent = `${name}: ${written(last)}`;
  });
}

/** Show the sample and its weights in a table. The cells are reused as long as the size stays the same. */
function sample(view) {
  const caption = element("caption");
  const table = element("table", { class: "tl-sample" }, caption);
  let size = "";
  const redraw = oncePerFrame(() => {
    const { source, generated, wanted, weights } = view.get("sample");
    table.hidden = !generated;
    if (!generated) return;
    const right = wanted ? (generated.join("").startsWith(wanted) ? " ✓" : ` ✗ (right: ${wanted})`) : "";
    caption.textContent = `${source.join("")} → ${generated.join("")}${right}`;
    const now = weights ? `${generated.length} × ${source.length}` : "";
    if (now !== size) {
      table.replaceChildren(caption, ...(weights ? rows(generated.length, source.length) : []));
      size = now;
    }
    if (weights) fill(table, source, generated, weights);
  });
  view.follow(["sample"], redraw);
  return table;
}

/** Format a weight for a small cell: `.3`, `1`, or nothing below 0.1. */
export function tenths(weight) {
  return weight >= 0.1 ? weight.toFixed(1).replace(/^0|\.0$/, "") : "";
}

function rows(height, width) {
  const row = (first, tag) => element("tr", {}, first, ...Array.from({ length: width }, () => element(tag)));
  return [
    row(element("td"), "th"),
    ...Array.from({ length: height }, () => row(element("th", { scope: "row" }), "td")),
  ];
}

function fill(table, source, generated, weights) {
  const [head, ...below] = table.rows;
  source.forEach((token, j) => (head.cells[j + 1].textContent = visible(token)));
  below.forEach((row, i) => {
    row.cells[0].textContent = visible(generated[i]);
    weights[i].forEach((weight, j) => {
      const cell = row.cells[j + 1];
      cell.style.background = tint(weight);
      cell.style.color = ink(weight);
      cell.textContent = tenths(weight);
      cell.title = `${visible(generated[i])} attends to ${visible(source[j])}: ${weight.toFixed(2)}`;
    });
  });
}
