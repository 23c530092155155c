// Labeled controls, each bound to a trait in both directions, and the arrow keys of a row of elements.

import { attributes, element } from "./dom.mjs";

/** Make a slider for a number; `format` says how its value is written beside it. */
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

/** Make a list to choose from. Options are `[value, name]`, or a function that gives them, called when `when` change. */
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

/** Make a box to tick for a trait that is true or false. */
export function tick(view, { trait, label }) {
  const input = element("input", { type: "checkbox" });
  input.addEventListener("change", () => view.set({ [trait]: input.checked }));
  view.follow([trait], () => (input.checked = view.get(trait)));
  return element("label", { class: "tl-control" }, input, label);
}

/** Make a button. */
export function button(label, press) {
  const made = element("button", { type: "button", class: "tl-button" }, label);
  made.addEventListener("click", press);
  return made;
}

/**
 * Let arrow keys, Home and End move the focus among elements, of which Tab finds only the one last focused.
 *
 * `columns` is the number of elements in a row: left and right go by one, up and down by so many. With 1, all four keys
 * go by one. Returns a function that moves the focus to the element of a number.
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

/** Return where a key leads from element `i` of `n`; null if nowhere. */
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
