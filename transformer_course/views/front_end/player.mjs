// A play button that advances a view frame by frame.

import { button } from "./controls.mjs";
import { attributes } from "./dom.mjs";

/**
 * Create a button that calls `onward` at an interval in milliseconds, until `onward` returns false or the button is
 * pressed again. `begin` is called whenever playing starts. While playing, the description is not read aloud.
 */
export function player(view, { name, milliseconds, begin, onward }) {
  let timer = null;
  const pause = () => {
    clearInterval(timer);
    timer = null;
    show();
  };
  const show = () => {
    const isPlaying = timer !== null;
    view.readAloud(!isPlaying);
    attributes(node, { "aria-pressed": String(isPlaying) });
    node.textContent = isPlaying ? "❚❚ pause" : `▶ ${name}`;
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
