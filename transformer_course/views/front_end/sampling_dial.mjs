// The sampling dial: bars of the distribution of the next token, which follow the sliders, and samples.

import { button, slider } from "./controls.mjs";
import { attributes, element } from "./dom.mjs";
import { drawn, probabilities } from "./sampling_math.mjs";
import { visible } from "./tokens.mjs";
import { oncePerFrame } from "./view.mjs";

const N_DRAWN = 100;
const N_WRITTEN = 40;
const SCALE_ENDS = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1];
const OTHERS = "all others";

export function draw(view) {
  const { controls, body } = view.frame({
    name: "Sampling dial",
    help: "Move the sliders with the mouse or the arrow keys. Outlines are the model's original probabilities. Tokens marked “cut” cannot be drawn.",
  });
  const twoDigits = (number) => number.toFixed(2);
  const all = view.get("tokens");
  const n = all.length;
  controls.append(
    slider(view, { trait: "temperature", label: "temperature", min: 0.05, max: 5, step: 0.05, format: twoDigits }),
    slider(view, { trait: "top_k", label: "top-k", min: 1, max: n, step: 1, format: (k) => (k >= n ? "all" : String(k)) }),
    slider(view, { trait: "top_p", label: "top-p", min: 0.01, max: 1, step: 0.01, format: twoDigits }),
    button("Draw again", () => view.set({ seed: view.get("seed") + 1 })),
  );
  const table = bars(all.slice(0, view.get("n_shown")).map(visible));
  const samples = element("p", { class: "tl-drawn" });
  body.append(table.root, samples);
  const before = probabilities(view.get("logits"), { temperature: 1, topK: n, topP: 1 });
  const redraw = oncePerFrame(() => {
    const settings = { temperature: view.get("temperature"), topK: view.get("top_k"), topP: view.get("top_p") };
    const now = probabilities(view.get("logits"), settings);
    const places = drawn(now, view.get("seed"), N_DRAWN);
    table.redraw(before, now, places);
    samples.replaceChildren(`The first ${N_WRITTEN} of ${N_DRAWN} samples: `, ...tokens(places.slice(0, N_WRITTEN).map((i) => all[i])));
    view.say(inWords(all, now, places));
  });
  view.follow(["temperature", "top_k", "top_p", "seed"], redraw);
}

function inWords(all, now, places) {
  const kept = `${now.filter((p) => p > 0).length} of ${all.length} tokens can be drawn`;
  const times = `It was drawn ${places.filter((i) => i === 0).length} of ${places.length} times.`;
  return `${kept}; the most probable is ${visible(all[0])} with ${percent(now[0])}. ${times}`;
}

/** Create a row for each token that is shown, and a row for all other tokens. */
function bars(names) {
  const rows = [...names, OTHERS].map((name) => {
    const [before, now] = ["tl-before", "tl-now"].map((kind) => element("span", { class: kind }));
    const [number, count] = [element("td"), element("td")];
    // The sum of all other tokens has no bar, because the bars of single tokens would be too short next to it.
    const bar = element("td", { class: "tl-bar", "aria-hidden": "true" }, ...(name === OTHERS ? [] : [before, now]));
    return { before, now, number, count, root: element("tr", {}, element("th", { scope: "row" }, name), bar, number, count) };
  });
  const scale = element("th", { scope: "col", class: "tl-scale", "aria-hidden": "true" });
  const [token, number, count] = ["token", "probability", "drawn"].map((name) => element("th", { scope: "col" }, name));
  const head = [token, scale, number, count];
  const root = element("table", { class: "tl-distribution" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows.map((row) => row.root)));
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const ofRows = (numbers) => [...numbers.slice(0, names.length), sum(numbers.slice(names.length))];
  return {
    root,
    redraw(before, now, places) {
      const [was, is] = [before, now].map(ofRows);
      const largest = Math.max(...was.slice(0, names.length), ...is.slice(0, names.length));
      const end = SCALE_ENDS.find((end) => end >= largest) ?? 1;
      scale.textContent = `0 to ${Math.round(100 * end)} %`;
      rows.forEach((row, i) => {
        const isOthers = i === names.length;
        const drawn = places.filter((place) => (isOthers ? place >= i : place === i)).length;
        row.before.style.width = `${(100 * was[i]) / end}%`;
        row.now.style.width = `${(100 * is[i]) / end}%`;
        row.number.textContent = is[i] === 0 ? "cut" : percent(is[i]);
        row.count.textContent = drawn || "";
        attributes(row.root, { class: is[i] === 0 && "tl-cut" });
      });
    },
  };
}

function tokens(drawn) {
  return drawn.flatMap((text) => [element("span", { class: "tl-token" }, visible(text)), " "]);
}

/** Format a probability in percent. A probability that is not 0 is never written as 0. */
export function percent(p) {
  return p > 0 && p < 0.001 ? "< 0.1 %" : `${(100 * p).toFixed(1)} %`;
}
