// The same computation as `look_up` in lookup_dial.py. A test compares them.

/** Return the scores, the weights, the output, and the entropy divided by its maximum. */
export function lookUp({ query, keys, values, temperature, d_k, divisor }) {
  const divisors = { 1: 1, "√d_k": Math.sqrt(d_k), d_k };
  const scale = Math.sqrt(d_k / 2) / divisors[divisor] / temperature;
  const scores = keys.map(([x, y]) => scale * (x * query[0] + y * query[1]));
  const weights = softmax(scores);
  const output = weights.reduce((sum, weight, i) => sum + weight * values[i], 0);
  const entropy = weights.reduce((sum, weight) => sum - (weight > 0 ? weight * Math.log(weight) : 0), 0);
  return { scores, weights, output, entropy: keys.length > 1 ? entropy / Math.log(keys.length) : 0 };
}

function softmax(scores) {
  const largest = Math.max(...scores);
  const exponentials = scores.map((score) => Math.exp(score - largest));
  const total = exponentials.reduce((sum, exponential) => sum + exponential, 0);
  return exponentials.map((exponential) => exponential / total);
}
