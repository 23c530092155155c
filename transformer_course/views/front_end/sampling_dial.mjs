// The distribution of the next token, as bars that follow the sliders, and tokens drawn from it.

import { button, slider } from "./controls.mjs";
import { attributes, element } from "./dom.mjs";
import { visible } from "./tokens.mjs";
import { oncePerFrame } from "./view.mjs";

const N_SHOWN = 40;

export function draw(view) {
  const { controls, body } = view.frame({
    name: "Sampling dial",
    help: "Move the sliders by mouse or arrow keys. Outlines are the model's own probabilities; tokens that are cut cannot be drawn.",
  });
  const twoDigits = (number) => number.toFixed(2);
  const n = view.get("n_tokens");
  controls.append(
    slider(view, { trait: "temperature", label: "temperature", min: 0.05, max: 5, step: 0.05, format: twoDigits }),
    slider(view, { trait: "top_k", label: "top-k", min: 1, max: n, step: 1, format: (k) => (k >= n ? "all" : String(k)) }),
    slider(view, { trait: "top_p", label: "top-p", min: 0.01, max: 1, step: 0.01, format: twoDigits }),
    button("Draw again", () => view.set({ seed: view.get("seed") + 1 })),
  );
  const table = bars(view);
  const drawn = element("p", { class: "tl-drawn" });
  body.append(table.root, drawn);
  const redraw = oncePerFrame(() => {
    table.redraw();
    const all = view.get("drawn");
    drawn.replaceChildren(`The first ${N_SHOWN} of ${all.length} drawn: `, ...tokens(all.slice(0, N_SHOWN)));
    view.say(inWords(view));
  });
  view.follow(["probabilities", "counts", "drawn", "n_kept"], redraw);
}

function inWords(view) {
  const p = view.get("probabilities");
  const best = p.indexOf(Math.max(...p.slice(0, -1)));
  const kept = `${view.get("n_kept")} of ${view.get("n_tokens")} tokens can be drawn`;
  const times = `It was drawn ${view.get("counts")[best]} of ${view.get("drawn").length} times.`;
  return `${kept}; the most probable, ${visible(view.get("shown")[best])}, with ${percent(p[best])}. ${times}`;
}

/** Make a row for each token that is shown, and one for all others. */
function bars(view) {
  const rows = [...view.get("shown").map(visible), "all others"].map((name) => {
    const [before, now] = ["tl-before", "tl-now"].map((kind) => element("span", { class: kind }));
    const [number, count] = [element("td"), element("td")];
    const bar = element("td", { class: "tl-bar", "aria-hidden": "true" }, before, now);
    return { before, now, number, count, root: element("tr", {}, element("th", { scope: "row" }, name), bar, number, count) };
  });
  const head = ["token", "", "probability", "drawn"].map((name) => element("th", { scope: "col" }, name));
  const root = element("table", { class: "tl-distribution" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows.map((row) => row.root)));
  return {
    root,
    redraw() {
      const [before, now, counts] = ["before", "probabilities", "counts"].map((trait) => view.get(trait));
      rows.forEach((row, i) => {
        const isOthers = i === rows.length - 1;
        const isCut = isOthers ? !view.get("can_draw_others") : now[i] === 0;
        row.before.style.width = `${100 * before[i]}%`;
        row.now.style.width = `${100 * now[i]}%`;
        row.number.textContent = isCut ? "cut" : percent(now[i]);
        row.count.textContent = counts[i] || "";
        attributes(row.root, { class: isCut && "tl-cut" });
      });
    },
  };
}

function tokens(drawn) {
  return drawn.flatMap((text) => [element("span", { class: "tl-token" }, visible(text)), " "]);
}

/** Write a probability in percent; one that is not 0 never as 0. */
export function percent(p) {
  return p > 0 && p < 0.001 ? "< 0.1 %" : `${(100 * p).toFixed(1)} %`;
}
