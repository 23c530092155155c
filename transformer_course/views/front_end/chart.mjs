// A small chart with several curves over the layers and a mark at one layer.

import { attributes, label, svg } from "./dom.mjs";
import { plain } from "./numbers.mjs";

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [330, 170, 38, 22, 24];

/**
 * Create a chart. `kinds` are the CSS classes of the curves. The scale runs from `least` to `most`, logarithmic if `log`.
 *
 * `redraw(lines, layer)` draws the curves and moves the mark; `layerAt(x)` returns the layer at an x coordinate.
 */
export function chart({ caption, kinds, least, most, log }) {
  const scale = log ? Math.log10 : (value) => value;
  const across = (i, n) => LEFT + ((WIDTH - LEFT - 8) * (n === 1 ? 0.5 : i / (n - 1)));
  const down = (value) => {
    const part = (scale(Math.max(value, least)) - scale(least)) / (scale(most) - scale(least));
    return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
  };
  const paths = kinds.map((kind) => svg("path", { class: `tl-curve ${kind}` }));
  const mark = svg("line", { class: "tl-here", y1: TOP, y2: HEIGHT - BOTTOM });
  const last = label("", WIDTH - 8, HEIGHT - 8, "middle");
  const root = svg(
    "svg",
    { class: "tl-layers", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": caption },
    label(caption, LEFT, 13, "start", "tl-caption"),
    ...ticks(least, most, log).flatMap((value) => [
      svg("line", { class: "tl-grid", x1: LEFT, x2: WIDTH - 8, y1: down(value), y2: down(value) }),
      label(value > 0 && value < 0.01 ? value.toExponential(0).replace("-", "−") : plain(value), LEFT - 5, down(value) + 4, "end"),
    ]),
    label("layer", (LEFT + WIDTH) / 2, HEIGHT - 8, "middle"),
    label("1", LEFT, HEIGHT - 8, "middle"),
    last,
    mark,
    ...paths,
  );
  let count = 1;
  return {
    root,
    layerAt: (x) => Math.min(Math.max(1 + Math.round(((x - LEFT) / (WIDTH - LEFT - 8)) * (count - 1)), 1), count),
    redraw(lines, layer) {
      count = lines[0].length;
      lines.forEach((line, k) => {
        const points = line.map((value, i) => `${across(i, count)},${down(value)}`);
        attributes(paths[k], { d: `M${points.join("L")}` });
      });
      attributes(mark, { x1: across(layer - 1, count), x2: across(layer - 1, count) });
      last.textContent = String(count);
    },
  };
}

function ticks(least, most, log) {
  if (!log) return [0, 0.5, 1].filter((value) => value >= least && value <= most);
  const powers = [];
  for (let power = Math.ceil(Math.log10(least)); power <= Math.log10(most); power++) powers.push(10 ** power);
  return powers;
}
