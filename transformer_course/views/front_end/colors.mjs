// Colors that match the course's plots. The colors of text and lines, for both themes, are in view.css.

/** Nine colors of the viridis color map, from 0 (dark) to 1 (bright). */
const VIRIDIS = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
];

/** Return red, green and blue, from 0 to 255, for a weight from 0 to 1. */
export function viridis(weight) {
  const place = Math.min(Math.max(weight, 0), 1) * (VIRIDIS.length - 1);
  const below = Math.min(Math.floor(place), VIRIDIS.length - 2);
  return VIRIDIS[below].map((from, i) => Math.round(from + (place - below) * (VIRIDIS[below + 1][i] - from)));
}

/** Return the color of a weight as a CSS color. */
export function tint(weight) {
  return `rgb(${viridis(weight).join(" ")})`;
}

/** Return the text color, black or white, that is legible on the color of a weight. */
export function ink(weight) {
  return weight < 0.43 ? "white" : "black";
}

/** Return the i-th of `n` evenly spaced hues, in degrees. Four hues match the blue, pink, orange and green of the plots. */
export function hue(i, n) {
  return (245 + (360 * i) / n) % 360;
}
