// Tokens as they are written in the views.

/** Write a token so that spaces and line breaks in it can be seen. */
export function visible(text) {
  return text.replaceAll(" ", "␣").replaceAll("\n", "⏎") || "∅";
}
