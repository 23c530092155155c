// Formatting of numbers.

/** Format a number with two decimals, or with none if it is large, and with a real minus sign. */
export function written(number) {
  const text = Math.abs(number) >= 99.995 ? number.toFixed(0) : number.toFixed(2);
  return /[1-9]/.test(text) ? text.replace("-", "−") : text.replace("-", "");
}

/** Format a constant with up to two decimals, without trailing zeros. */
export function plain(number) {
  return String(Number(number.toFixed(2))).replace("-", "−");
}
