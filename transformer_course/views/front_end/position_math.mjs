// The same computations as `hands` and `products` in position_clock.py. A test compares them.

/** Return the angle by which each pair turns per position, in radians, for vectors of width d. */
export function frequencies(d, base) {
  return Array.from({ length: d / 2 }, (_, i) => base ** ((-2 * i) / d));
}

/** Return the end point [x, y] of the hand of each pair. */
export function hands(vector, position, base, scheme) {
  return frequencies(vector.length, base).map((frequency, i) => {
    const [sine, cosine] = [Math.sin(position * frequency), Math.cos(position * frequency)];
    if (scheme === "sinusoidal") return [sine, cosine];
    const [a, b] = vector.slice(2 * i, 2 * i + 2);
    return [a * cosine - b * sine, a * sine + b * cosine];
  });
}

/** Return the contribution of each pair to the dot product of the query at `position` and the key at `other`. */
export function products({ query, key, position, other, base, scheme }) {
  const there = hands(key, other, base, scheme);
  return hands(query, position, base, scheme).map(([x, y], i) => x * there[i][0] + y * there[i][1]);
}

export function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
