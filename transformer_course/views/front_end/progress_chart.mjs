// A chart of curves over the steps of a run: its elements are made once, and moved when the curves grow.

import { attributes, svg } from "./dom.mjs";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [330, 190, 44, 10, 24, 34];

/** Make a chart; `redraw({steps, lines, least, most})` draws lines of `[step, number]` between two numbers. */
export function progressChart({ caption, n }) {
  const lines = Array.from({ length: n }, (_, i) => svg("polyline", { class: `tl-curve tl-curve-${i}` }));
  const dots = Array.from({ length: n }, (_, i) => svg("circle", { class: `tl-end tl-curve-${i}`, r: 3.5, visibility: "hidden" }));
  const marks = [0, 0.5, 1].map((part) => {
    const y = HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
    const text = svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" });
    return { part, text, line: svg("line", { class: "tl-grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y }) };
  });
  const last = svg("text", { x: WIDTH - RIGHT, y: HEIGHT - BOTTOM + 16, "text-anchor": "end" });
  const root = svg(
    "svg",
    { class: "tl-progress-chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": caption },
    svg("text", { class: "tl-caption", x: LEFT, y: 13 }, caption),
    ...marks.flatMap(({ line, text }) => [line, text]),
    svg("text", { x: LEFT, y: HEIGHT - BOTTOM + 16 }, "0"),
    svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, "step"),
    last,
    ...lines,
    ...dots,
  );
  return {
    root,
    redraw({ steps, curves, least, most }) {
      const place = ([step, number]) => [
        LEFT + ((WIDTH - LEFT - RIGHT) * step) / steps,
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ((number - least) / (most - least)),
      ];
      for (const { part, text } of marks) text.textContent = (least + part * (most - least)).toFixed(most - least < 10 ? 2 : 0);
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

/** Return the range of all numbers of curves, from 0 to 1 if they are fractions and `fractions` says so. */
export function rangeOf(curves, fractions) {
  const numbers = curves.flat().map(([, number]) => number).filter(Number.isFinite);
  if (!numbers.length || (fractions && numbers.every((number) => number >= 0 && number <= 1))) return [0, 1];
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const room = 0.05 * (most - least) || 0.5;
  return [least >= 0 ? Math.max(least - room, 0) : least - room, most + room];
}
