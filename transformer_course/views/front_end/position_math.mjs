// Pairs of features turned by their position, as `hands` and `products` of position_clock.py compute them: a test
// compares the two.

/** Return by how many radians each pair turns per position, for vectors of a width d. */
export function frequencies(d, base) {
  return Array.from({ length: d / 2 }, (_, i) => base ** ((-2 * i) / d));
}

/** Return where the hand of each pair points: how far to the right, and how far up. */
export function hands(vector, position, base, scheme) {
  return frequencies(vector.length, base).map((frequency, i) => {
    const [sine, cosine] = [Math.sin(position * frequency), Math.cos(position * frequency)];
    if (scheme === "sinusoidal") return [sine, cosine];
    const [a, b] = vector.slice(2 * i, 2 * i + 2);
    return [a * cosine - b * sine, a * sine + b * cosine];
  });
}

/** Return what each pair adds to the dot product of the query at one position and the key at another. */
export function products({ query, key, position, other, base, scheme }) {
  const there = hands(key, other, base, scheme);
  return hands(query, position, base, scheme).map(([x, y], i) => x * there[i][0] + y * there[i][1]);
}

export function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
