// The same computations as `probabilities` and `drawn` in sampling_dial.py. A test compares them.

/** Return the probability of each token, which is 0 for tokens that are cut. The logits must be in descending order. */
export function probabilities(logits, { temperature, topK, topP }) {
  const scaled = logits.slice(0, topK).map((logit) => Math.exp((logit - logits[0]) / temperature));
  const total = sum(scaled);
  let before = 0; // the total probability of all more probable tokens
  const kept = scaled.map((exponential, i) => {
    const isKept = i === 0 || before < topP;
    before += exponential / total;
    return isKept ? exponential : 0;
  });
  const left = sum(kept);
  return logits.map((_, i) => (i < kept.length ? kept[i] / left : 0));
}

/** Draw `n` tokens and return their indices. The same seed draws the same tokens. */
export function drawn(probabilities, seed, n) {
  const next = uniform(seed);
  const last = probabilities.findLastIndex((p) => p > 0);
  return Array.from({ length: n }, () => {
    let left = next();
    const index = probabilities.findIndex((p) => (left -= p) < 0);
    return index < 0 ? last : index;
  });
}

/** Return a random number generator (mulberry32) that returns a number from 0 to 1 at each call. */
function uniform(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
