// A chart of curves over the steps of a run. Its elements are created once and then moved when the curves grow.

import { attributes, svg } from "./dom.mjs";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [330, 190, 44, 10, 24, 34];

const MAX_TICKS = 6;

/** Create a chart. `redraw({steps, curves, ticks})` draws curves of `[step, number]` between the first and last tick. */
export function progressChart({ caption, n }) {
  const lines = Array.from({ length: n }, (_, i) => svg("polyline", { class: `tl-curve tl-curve-${i}` }));
  const dots = Array.from({ length: n }, (_, i) => svg("circle", { class: `tl-end tl-curve-${i}`, r: 3.5, visibility: "hidden" }));
  const marks = Array.from({ length: MAX_TICKS }, () => {
    const text = svg("text", { x: LEFT - 6, "text-anchor": "end" });
    return svg("g", { visibility: "hidden" }, svg("line", { class: "tl-grid", x1: LEFT, x2: WIDTH - RIGHT }), text);
  });
  const last = svg("text", { x: WIDTH - RIGHT, y: HEIGHT - BOTTOM + 16, "text-anchor": "end" });
  const root = svg(
    "svg",
    { class: "tl-progress-chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": caption },
    svg("text", { class: "tl-caption", x: LEFT, y: 13 }, caption),
    ...marks,
    svg("text", { x: LEFT, y: HEIGHT - BOTTOM + 16 }, "0"),
    svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, "step"),
    last,
    ...lines,
    ...dots,
  );
  return {
    root,
    redraw({ steps, curves, ticks }) {
      const [least, most] = [ticks[0], ticks.at(-1)];
      const place = ([step, number]) => [
        LEFT + ((WIDTH - LEFT - RIGHT) * step) / steps,
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ((number - least) / (most - least)),
      ];
      const decimals = decimalsOf(ticks[1] - ticks[0]);
      marks.forEach((mark, i) => {
        attributes(mark, { visibility: i < ticks.length ? "visible" : "hidden" });
        if (i >= ticks.length) return;
        const [, y] = place([0, ticks[i]]);
        const [line, text] = mark.children;
        attributes(line, { y1: y, y2: y });
        attributes(text, { y: y + 4 });
        text.textContent = ticks[i].toFixed(decimals).replace("-", "−");
      });
      last.textContent = String(steps);
      lines.forEach((line, i) => {
        const points = (curves[i] ?? []).filter(([, number]) => number !== null).map(place);
        attributes(line, { points: points.map((point) => point.map((x) => x.toFixed(1)).join(",")).join(" ") });
        const [x, y] = points.at(-1) ?? [0, 0];
        attributes(dots[i], { cx: x, cy: y, visibility: points.length ? "visible" : "hidden" });
      });
    },
  };
}

/** Return at most six evenly spaced round numbers that span all numbers of the curves, or 0 to 1 if these are fractions. */
export function ticksOf(curves, fractions) {
  const numbers = curves.flat().map(([, number]) => number).filter(Number.isFinite);
  if (!numbers.length || (fractions && numbers.every((number) => number >= 0 && number <= 1))) return [0, 0.5, 1];
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const step = roundUp((most - least) / (MAX_TICKS - 3) || 0.5 * Math.abs(most) || 1);
  const first = Math.floor(least / step);
  const last = Math.max(Math.ceil(most / step), first + 1);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Round up to 1, 2 or 5 times a power of ten. */
function roundUp(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return power * [1, 2, 5, 10].find((digit) => digit * power >= number * (1 - 1e-9));
}

/** Return the number of decimals needed to distinguish multiples of a round number. */
function decimalsOf(step) {
  return Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
}
