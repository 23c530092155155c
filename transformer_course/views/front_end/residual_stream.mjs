// The residual stream view: the effect of each layer in four stacks of the same depth at one training step.

import { chart } from "./chart.mjs";
import { slider } from "./controls.mjs";
import { attributes, element, svg } from "./dom.mjs";
import { drag } from "./drag.mjs";
import { player } from "./player.mjs";
import { stops } from "./stops.mjs";
import { oncePerFrame } from "./view.mjs";

const LOGARITHMIC = ["size", "gradient"];
const FRAME_MILLISECONDS = 600;

export function draw(view) {
  const { controls, body } = view.frame({
    name: "Residual stream",
    help: "Drag across a chart to choose a layer, or use the sliders. The scales are the same for all depths and steps.",
  });
  const depths = [...new Set(view.get("runs").map((run) => run.depth))].sort((a, b) => a - b);
  const layers = slider(view, { trait: "layer", label: "layer", min: 1, max: depths.at(-1), step: 1 });
  controls.append(
    depthSlider(view, depths),
    stops(view, { trait: "step", label: "training step", values: view.get("steps") }),
    trainer(view),
    layers,
  );
  const charts = drawCharts(view);
  const table = drawTable(view);
  body.append(table.root, element("div", { class: "tl-charts" }, ...charts.roots)); // the table is also the legend of the charts
  const redraw = oncePerFrame(() => {
    attributes(layers.querySelector("input"), { max: view.get("depth") });
    charts.redraw();
    table.redraw();
    view.say(inWords(view));
  });
  view.follow(["depth", "step", "layer"], redraw);
}

/** Return the runs of the selected depth. */
function shown(view) {
  return view.get("runs").filter((run) => run.depth === view.get("depth"));
}

function kind(run) {
  return `tl-${run.layout} ${run.warmup ? "tl-warm" : "tl-cold"}`;
}

/** Return the loss of a run at the selected step, and a function that returns a measurement of all layers by name. */
function numbers(view, run) {
  const stepIndex = view.get("steps").indexOf(view.get("step"));
  const losses = run.losses[stepIndex];
  const at = (name) => run.measures[name][stepIndex];
  return { loss: losses.reduce((sum, loss) => sum + loss, 0) / losses.length, at };
}

/** Format a number with two significant digits. */
function short(number) {
  const tiny = number !== 0 && Math.abs(number) < 0.001;
  return (tiny ? number.toExponential(0) : String(Number(number.toPrecision(2)))).replace("-", "−");
}

function inWords(view) {
  const losses = shown(view).map((run) => `${run.name} ${numbers(view, run).loss.toFixed(2)}`);
  const place = `${view.get("depth")} layers after ${view.get("step")} steps, layer ${view.get("layer")}`;
  return `${place}. Losses: ${losses.join("; ")}.`;
}

/** Create the slider for the depth. If the stack does not have the selected layer, its last layer is selected. */
function depthSlider(view, depths) {
  const node = stops(view, { trait: "depth", label: "layers in the stack", values: depths });
  view.follow(["depth"], () => {
    if (view.get("layer") > view.get("depth")) view.set({ layer: view.get("depth") });
  });
  return node;
}

/** Create the button that plays the training step by step, from the beginning if the last step is selected. */
function trainer(view) {
  const steps = view.get("steps");
  const begin = () => view.get("step") === steps.at(-1) && view.set({ step: steps[0] });
  const onward = () => {
    const next = Math.min(steps.indexOf(view.get("step")) + 1, steps.length - 1);
    view.set({ step: steps[next] });
    return next < steps.length - 1;
  };
  return player(view, { name: "train", milliseconds: FRAME_MILLISECONDS, begin, onward });
}

function drawCharts(view) {
  const kinds = shown(view).map(kind);
  const charts = Object.entries(view.get("captions")).map(([name, caption]) => {
    const log = LOGARITHMIC.includes(name);
    const all = view.get("runs").flatMap((run) => run.measures[name].flat());
    const [least, most] = log ? decades(all) : [Math.min(0, ...all), 1];
    return { name, ...chart({ caption, kinds, least, most, log }) };
  });
  for (const { root, layerAt } of charts) drag(root, (x) => view.set({ layer: layerAt(x) }));
  return {
    roots: charts.map(({ root }) => root),
    redraw() {
      const runs = shown(view).map((run) => numbers(view, run));
      for (const { name, redraw } of charts) redraw(runs.map(({ at }) => at(name)), view.get("layer"));
    },
  };
}

/** Return the powers of ten below and above some numbers, at most five decades apart. Numbers of 0 are ignored. */
function decades(values) {
  const most = Math.ceil(Math.log10(Math.max(...values)));
  const least = Math.floor(Math.log10(Math.min(...values.filter((value) => value > 0))));
  return [10 ** Math.max(least, most - 5), 10 ** most];
}

function drawTable(view) {
  const names = Object.keys(view.get("captions"));
  const rows = shown(view).map((run) => {
    const line = svg("path", { class: `tl-curve ${kind(run)}`, d: "M0,4L30,4" });
    const sample = svg("svg", { class: "tl-swatch", viewBox: "0 0 30 8", "aria-hidden": "true" }, line);
    const cells = ["loss", ...names].map(() => element("td"));
    return { root: element("tr", {}, element("th", { scope: "row" }, sample, run.name), ...cells), cells };
  });
  const place = element("caption");
  const heads = ["", "loss", ...Object.values(view.get("captions"))].map((name) => element("th", { scope: "col" }, name));
  const body = element("tbody", {}, ...rows.map((row) => row.root));
  const root = element("table", { class: "tl-runs" }, place, element("thead", {}, element("tr", {}, ...heads)), body);
  return {
    root,
    redraw() {
      place.textContent = `layer ${view.get("layer")} of ${view.get("depth")}, after ${view.get("step")} steps`;
      shown(view).forEach((run, i) => {
        const { loss, at } = numbers(view, run);
        const written = [loss.toFixed(2), ...names.map((name) => short(at(name)[view.get("layer") - 1]))];
        written.forEach((text, j) => (rows[i].cells[j].textContent = text));
      });
    },
  };
}
