// Formatting of tokens.

/** Return a token with visible spaces and line breaks. */
export function visible(text) {
  return text.replaceAll(" ", "␣").replaceAll("\n", "⏎") || "∅";
}

/** Return tokens in quotes, joined with commas and "and". */
export function listed(tokens) {
  const quoted = tokens.map((token) => `“${token}”`);
  return [quoted.slice(0, -1).join(", "), quoted.at(-1)].filter(Boolean).join(" and ");
}

/** Return a token with its position as a subscript (like₁), because a text may contain the same token twice. */
export function numbered(text, position) {
  const subscript = [...String(position)].map((digit) => String.fromCodePoint(0x2080 + Number(digit)));
  return visible(text) + subscript.join("");
}
