// A slider over numbers that are not evenly spaced, such as 0.01, 0.1, 1 and 10.

import { element } from "./dom.mjs";

/**
 * Create a slider that stops at the numbers of a sorted list.
 *
 * If Python code sets a number between two stops, the number is shown next to the slider, and the slider moves to the
 * nearest stop. `values` may be a function, which is called again when a trait in `when` changes.
 */
export function stops(view, { trait, label, values, format = String, when = [] }) {
  const list = typeof values === "function" ? values : () => values;
  const input = element("input", { type: "range", min: 0, step: 1 });
  const shown = element("span", { class: "tl-value", "aria-hidden": "true" });
  input.addEventListener("input", () => view.set({ [trait]: list()[Number(input.value)] }));
  view.follow([trait, ...when], () => {
    input.max = list().length - 1;
    input.value = nearest(list(), view.get(trait));
    shown.textContent = format(view.get(trait));
    input.setAttribute("aria-valuetext", shown.textContent);
  });
  return element("label", { class: "tl-control" }, label, input, shown);
}

/** Return the index of the value that is nearest to a number, by ratio if all are positive. */
export function nearest(values, number) {
  const scale = values.every((value) => value > 0) && number > 0 ? Math.log : (value) => value;
  const distances = values.map((value) => Math.abs(scale(value) - scale(number)));
  return distances.indexOf(Math.min(...distances));
}
