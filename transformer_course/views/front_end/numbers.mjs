// Numbers as they are written in the views.

/** Write a number with two decimals; a large one without. The minus is a real one. */
export function written(number) {
  const text = Math.abs(number) >= 99.995 ? number.toFixed(0) : number.toFixed(2);
  return /[1-9]/.test(text) ? text.replace("-", "−") : text.replace("-", "");
}

/** Write a number that does not change: with no more decimals than it needs. */
export function plain(number) {
  return String(Number(number.toFixed(2))).replace("-", "−");
}
