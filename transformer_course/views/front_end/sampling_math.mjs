// The distribution under temperature, top-k and top-p, and samples of it, as `probabilities` and `drawn` of
// sampling_dial.py compute them: a test compares the two.

/** Return the probability of each token, 0 for those that are cut. The logits are given from the largest down. */
export function probabilities(logits, { temperature, topK, topP }) {
  const scaled = logits.slice(0, topK).map((logit) => Math.exp((logit - logits[0]) / temperature));
  const total = sum(scaled);
  let before = 0; // the probability of all tokens above this one
  const kept = scaled.map((exponential, i) => {
    const isKept = i === 0 || before < topP;
    before += exponential / total;
    return isKept ? exponential : 0;
  });
  const left = sum(kept);
  return logits.map((_, i) => (i < kept.length ? kept[i] / left : 0));
}

/** Return the places of `n` tokens that are drawn, the same for the same seed. */
export function drawn(probabilities, seed, n) {
  const next = uniform(seed);
  const last = probabilities.findLastIndex((p) => p > 0);
  return Array.from({ length: n }, () => {
    let left = next();
    const place = probabilities.findIndex((p) => (left -= p) < 0);
    return place < 0 ? last : place;
  });
}

/** Return a function that gives one random number from 0 to 1 after another: the generator mulberry32. */
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
