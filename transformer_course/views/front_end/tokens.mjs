// Tokens as they are written in the views.

/** Write a token so that spaces and line breaks in it can be seen. */
export function visible(text) {
  return text.replaceAll(" ", "␣").replaceAll("\n", "⏎") || "∅";
}

/** Name tokens in a sentence: in quotes, the last two joined by "and". */
export function listed(tokens) {
  const quoted = tokens.map((token) => `“${token}”`);
  return [quoted.slice(0, -1).join(", "), quoted.at(-1)].filter(Boolean).join(" and ");
}

/** Write a token with its position, as in like₁: a text may have the same token twice. */
export function numbered(text, position) {
  const lowered = [...String(position)].map((digit) => String.fromCodePoint(0x2080 + Number(digit)));
  return visible(text) + lowered.join("");
}
