// What all views share: traits of the Python side, the frame around a drawing, and what is read aloud.

import { element } from "./dom.mjs";

const PASSING = 200; // milliseconds

/**
 * Make the function that a notebook calls to show a widget, from the one that draws a view. `kind` is the view's name:
 * its element has it as a class, by which the rules of its style sheet find it and no other view.
 *
 * `draw` gets a view:
 * - `get(trait)`: its value in Python, as it is known here;
 * - `set({trait: value, …})`: change traits, here and in Python;
 * - `pass({trait: value, …})`: the same for what a hand only passes over: Python hears of it a few times a second, as
 *   JupyterLab draws its toolbar anew for every message;
 * - `follow([trait, …], react)`: call `react` now, and whenever one of them has changed, from here or from Python;
 * - `frame({name, help})`: see below;
 * - `say(text)`: what has changed, in words, below the drawing and to screen readers;
 * - `readAloud(isOn)`: whether screen readers are to say it, too;
 * - `stops`: functions to call when the view goes, for whatever `draw` has started.
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
        passing ||= setTimeout(save, PASSING);
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
 * Return a model for `render` that lives in its page alone, from the traits that a view has stored: for where no kernel
 * runs. A trait of bytes is stored as text in base 64.
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

/** Let a function run at most once for each frame of the screen, however often it is asked for. */
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
 * Put the frame of a view into its element: a name, a place for controls, one for the drawing, what was said last, and
 * a line of help. Also defines `view.say` and `view.readAloud`.
 */
function frame(view, el, kind, { name, help }) {
  // Every widget has its own copy of this module, so that none could count them.
  const id = `tl-help-${Math.random().toString(36).slice(2)}`;
  const controls = element("div", { class: "tl-controls" });
  const body = element("div", { class: "tl-body" });
  const said = element("p", { class: "tl-said", role: "status", "aria-live": "polite" });
  const root = element(
    "section",
    { class: `tl-view ${kind}`, "aria-label": name, "aria-describedby": id },
    element("h4", { class: "tl-name" }, name),
    controls,
    body,
    said,
    element("p", { class: "tl-help", id }, help),
  );
  view.say = (text) => {
    if (said.textContent !== text) said.textContent = text;
  };
  view.readAloud = (isOn) => said.setAttribute("aria-live", isOn ? "polite" : "off");
  // JupyterLab moves between cells by arrow keys, and runs them by Enter; here, these keys are the view's.
  root.addEventListener("keydown", (event) => event.stopPropagation());
  root.dataset.lmSuppressShortcuts = "true";
  el.append(root);
  return { root, controls, body };
}
