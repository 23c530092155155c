// Labeled controls, each bound to a trait in both directions, and arrow keys for a row of elements.

import { attributes, element } from "./dom.mjs";

/** Create a slider for a number. `format` formats the value that is shown next to it. */
export function slider(view, { trait, label, min, max, step, format = String }) {
  const input = element("input", { type: "range", min, max, step });
  const shown = element("span", { class: "tl-value", "aria-hidden": "true" });
  input.addEventListener("input", () => view.set({ [trait]: Number(input.value) }));
  view.follow([trait], () => {
    input.value = view.get(trait);
    shown.textContent = format(view.get(trait));
    input.setAttribute("aria-valuetext", shown.textContent);
  });
  return element("label", { class: "tl-control" }, label, input, shown);
}

/** Create a drop-down list. `options` are `[value, name]` pairs or a function that returns them, called again when a trait in `when` changes. */
export function choice(view, { trait, label, options, when = [] }) {
  const select = element("select");
  const list = typeof options === "function" ? options : () => options;
  select.addEventListener("change", () => view.set({ [trait]: list()[select.selectedIndex][0] }));
  view.follow([trait, ...when], () => {
    const now = list();
    select.replaceChildren(...now.map(([, name]) => element("option", {}, name)));
    select.selectedIndex = now.findIndex(([value]) => value === view.get(trait));
  });
  return element("label", { class: "tl-control" }, label, select);
}

/** Create a checkbox for a Boolean trait. */
export function tick(view, { trait, label }) {
  const input = element("input", { type: "checkbox" });
  input.addEventListener("change", () => view.set({ [trait]: input.checked }));
  view.follow([trait], () => (input.checked = view.get(trait)));
  return element("label", { class: "tl-control" }, input, label);
}

/** Create a button. */
export function button(label, press) {
  const node = element("button", { type: "button", class: "tl-button" }, label);
  node.addEventListener("click", press);
  return node;
}

/**
 * Let the arrow keys, Home and End move the focus among elements. Tab reaches only the element that was focused last.
 *
 * `columns` is the number of elements in a row: left and right move by one element, up and down by `columns` elements.
 * Returns a function that moves the focus to the element with a given index.
 */
export function arrowKeys(elements, columns = 1) {
  let current = 0;
  const mark = (i) => {
    attributes(elements[current], { tabindex: -1 });
    attributes(elements[(current = i)], { tabindex: 0 });
  };
  elements.forEach((node, i) => {
    attributes(node, { tabindex: i === current ? 0 : -1 });
    node.addEventListener("focus", () => mark(i));
    node.addEventListener("keydown", (event) => {
      const to = destination(event.key, i, elements.length, columns);
      if (to === null) return;
      event.preventDefault();
      elements[to].focus();
    });
  });
  return (i) => elements[i].focus();
}

/** Return the index of the element that a key moves to from element `i` of `n`, or null if there is none. */
export function destination(key, i, n, columns = 1) {
  const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
  const column = i % columns;
  if (key === "Home") return columns > 1 ? i - column : 0;
  if (key === "End") return columns > 1 ? i - column + columns - 1 : n - 1;
  if (!(key in steps)) return null;
  const to = i + steps[key];
  const leavesRow = columns > 1 && Math.abs(steps[key]) === 1 && Math.floor(to / columns) !== Math.floor(i / columns);
  return to < 0 || to >= n || leavesRow ? null : to;
}
