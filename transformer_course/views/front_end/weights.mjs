// Tables of attention weights as Python sends them, with two bytes per weight and a special value for masked weights.

const HIDDEN = 65535;
const ONE = HIDDEN - 1;

/** Return the bytes of a message as 16-bit integers. */
export function unpack(view) {
  // 16-bit integers must begin at an even address.
  const bytes = view.byteOffset % 2 ? view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) : view.buffer;
  return new Uint16Array(bytes, view.byteOffset % 2 ? 0 : view.byteOffset, view.byteLength / 2);
}

/** Return the weights of one layer for one sentence: `heads` tables with `nQuery` rows and `nKey` columns. */
export function table(numbers, start, heads, nQuery, nKey) {
  const size = nQuery * nKey;
  return { heads, nQuery, nKey, of: (head) => numbers.subarray(start + head * size, start + (head + 1) * size) };
}

/** Return the weights of a query (a row) or a key (a column) in one head. Masked weights are null. */
export function line(table, head, { query = null, key = null }) {
  const { nQuery, nKey } = table;
  const cells = table.of(head);
  const [first, step, n] = query !== null ? [query * nKey, 1, nKey] : [key, nKey, nQuery];
  return Array.from({ length: n }, (_, i) => (cells[first + i * step] === HIDDEN ? null : cells[first + i * step] / ONE));
}

/** Return the weights of a head that are at least `least`, each as `[query, key, weight]`. */
export function atLeast(table, head, least) {
  const found = [];
  const lowest = Math.floor(least * ONE); // the code of a weight may be slightly too small
  table.of(head).forEach((level, at) => {
    if (level !== HIDDEN && level >= lowest) found.push([Math.floor(at / table.nKey), at % table.nKey, level / ONE]);
  });
  return found;
}

/** Return the indices of the n largest weights in descending order, without masked weights. The sort is stable. */
export function largest(weights, n) {
  const places = weights.map((_, i) => i).filter((i) => weights[i] !== null);
  return places.sort((a, b) => weights[b] - weights[a] || a - b).slice(0, n);
}

/** Paint the cells of a head as pixels of four bytes. `colors` is the result of `palette`. */
export function paint(cells, colors, pixels) {
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, cells.length);
  for (let i = 0; i < cells.length; i++) words[i] = colors[cells[i]];
}

/** Return the color of every possible code, from a function for the color of a weight and the color of masked weights. */
export function palette(color, hidden) {
  const bytes = new Uint8ClampedArray(4 * (HIDDEN + 1));
  for (let level = 0; level <= HIDDEN; level++) bytes.set([...(level === HIDDEN ? hidden : color(level / ONE)), 255], 4 * level);
  return new Uint32Array(bytes.buffer);
}
