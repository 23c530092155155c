// The base of all views: access to traits, the frame around a drawing, and the description that is read aloud.

import { element } from "./dom.mjs";

const PASS_MILLISECONDS = 200;

/**
 * Return the function that a notebook calls to show a widget. `draw` draws the view, and `kind` is the name of the view,
 * which its element gets as a class, so that the rules of its style sheet apply to no other view.
 *
 * `draw` is called with a view that has these methods and properties:
 * - `get(trait)`: return the value of a trait;
 * - `set({trait: value, …})`: change traits, here and in Python;
 * - `pass({trait: value, …})`: change traits that change often, such as while the pointer moves. Python receives them
 *   only a few times per second, because JupyterLab redraws its toolbar for every message;
 * - `follow([trait, …], react)`: call `react` now, and whenever one of the traits changes, here or in Python;
 * - `frame({name, help})`: see below;
 * - `say(text)`: set the description below the drawing, which screen readers read aloud;
 * - `readAloud(isOn)`: turn reading aloud on or off;
 * - `stops`: functions to call when the view is removed.
 */
export function render(draw, kind) {
  return ({ model, el }) => {
    const stops = [];
    let passing = 0;
    const change = (values) => Object.entries(values).forEach(([trait, value]) => model.set(trait, value));
    const save = () => {
      clearTimeout(passing);
      passing = 0;
      model.save_changes();
    };
    const view = {
      stops,
      model,
      get: (trait) => model.get(trait),
      set(values) {
        change(values);
        save();
      },
      pass(values) {
        change(values);
        passing ||= setTimeout(save, PASS_MILLISECONDS);
      },
      follow(traits, react) {
        for (const change of traits.map((trait) => `change:${trait}`)) {
          model.on(change, react);
          stops.push(() => model.off(change, react));
        }
        react();
      },
      frame: (texts) => frame(view, el, kind, texts),
    };
    stops.push(() => passing && save());
    draw(view);
    return () => stops.forEach((stop) => stop());
  };
}

/**
 * Return a model for `render` from the stored traits of a view, for pages without a kernel. A trait with bytes is stored
 * as text in base 64.
 */
export function modelOf(stored) {
  const read = (value) => (value?.base64 === undefined ? value : bytes(value.base64));
  const traits = new Map(Object.entries(stored).map(([trait, value]) => [trait, read(value)]));
  const listeners = new Map();
  return {
    get: (trait) => traits.get(trait),
    set(trait, value) {
      traits.set(trait, value);
      listeners.get(`change:${trait}`)?.forEach((react) => react());
    },
    save_changes() {},
    on: (event, react) => listeners.set(event, (listeners.get(event) ?? new Set()).add(react)),
    off: (event, react) => listeners.get(event)?.delete(react),
  };
}

function bytes(text) {
  return new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}

/** Return a function that runs `run` in the next frame, at most once per frame no matter how often it is called. */
export function oncePerFrame(run) {
  let waiting = 0;
  return () => {
    if (!waiting)
      waiting = requestAnimationFrame(() => {
        waiting = 0;
        run();
      });
  };
}

/**
 * Put the frame of a view into its element: a name, a container for controls, a container for the drawing, the
 * description, and a line of help. Also defines `view.say` and `view.readAloud`.
 */
function frame(view, el, kind, { name, help }) {
  // A random id, because every widget has its own copy of this module and cannot count the others.
  const id = `tl-help-${Math.random().toString(36).slice(2)}`;
  const controls = element("div", { class: "tl-controls" });
  const body = element("div", { class: "tl-body" });
  const description = element("p", { class: "tl-said", role: "status", "aria-live": "polite" });
  const root = element(
    "section",
    { class: `tl-view ${kind}`, "aria-label": name, "aria-describedby": id },
    element("h4", { class: "tl-name" }, name),
    controls,
    body,
    description,
    element("p", { class: "tl-help", id }, help),
  );
  view.say = (text) => {
    if (description.textContent !== text) description.textContent = text;
  };
  view.readAloud = (isOn) => description.setAttribute("aria-live", isOn ? "polite" : "off");
  // Keep keys from JupyterLab, in which the arrow keys move between cells and Enter runs a cell.
  root.addEventListener("keydown", (event) => event.stopPropagation());
  root.dataset.lmSuppressShortcuts = "true";
  el.append(root);
  return { root, controls, body };
}
