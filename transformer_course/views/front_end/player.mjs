// A button that plays: it goes on by itself, frame by frame.

import { button } from "./controls.mjs";
import { attributes } from "./dom.mjs";

/**
 * Make a button that calls `onward` every so many milliseconds, until that returns false or the button is pressed
 * again. `begin` is called at each press that starts it. What the view says meanwhile is not read aloud; the end is.
 */
export function player(view, { name, milliseconds, begin, onward }) {
  let timer = null;
  const pause = () => {
    clearInterval(timer);
    timer = null;
    show();
  };
  const show = () => {
    const plays = timer !== null;
    view.readAloud(!plays);
    attributes(node, { "aria-pressed": String(plays) });
    node.textContent = plays ? "❚❚ pause" : `▶ ${name}`;
  };
  const node = button(`▶ ${name}`, () => {
    if (timer !== null) return pause();
    begin();
    timer = setInterval(() => onward() || pause(), milliseconds);
    show();
  });
  attributes(node, { "aria-pressed": "false" });
  view.stops.push(() => clearInterval(timer));
  return node;
}
