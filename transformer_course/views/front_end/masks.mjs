// Presets of masks, the weights under a mask, and the outputs that an input reaches, as in the library.

/** Presets by name. Each is a function that returns whether query i may attend to key j. */
export const PRESETS = {
  everything: () => true,
  causal: (i, j) => j <= i,
  "causal, off by one": (i, j) => j <= i + 1,
  "window of 2": (i, j) => j <= i && j > i - 2,
  padding: (i, j, tokens) => tokens[j] !== PAD,
  "causal and padding": (i, j, tokens) => j <= i && tokens[j] !== PAD,
  nothing: () => false,
};

/** The token that presets for padding mask out. */
export const PAD = "<pad>";

/** Return the mask of a preset, with a row for each query. */
export function preset(name, tokens) {
  return tokens.map((_, i) => tokens.map((_, j) => PRESETS[name](i, j, tokens)));
}

/** Return the softmax of each row over the allowed keys. The weight of a masked key is null. */
export function weights(scores, allowed) {
  return scores.map((row, i) => {
    const largest = Math.max(...row.filter((_, j) => allowed[i][j]));
    const exponentials = row.map((score, j) => (allowed[i][j] ? Math.exp(score - largest) : 0));
    const total = exponentials.reduce((sum, one) => sum + one, 0);
    return exponentials.map((one, j) => (allowed[i][j] ? one / total : null));
  });
}

/**
 * Return for each output whether it depends on an input, after a number of layers with this mask. Each layer adds its
 * result to its input, so an input always reaches the output at its own position.
 */
export function reached(allowed, source, layers) {
  let lit = allowed.map((_, i) => i === source);
  for (let layer = 0; layer < layers; layer++) lit = allowed.map((row, i) => lit[i] || row.some((isAllowed, j) => isAllowed && lit[j]));
  return lit;
}
