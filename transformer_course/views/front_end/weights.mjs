// Tables of attention weights as Python sends them: two bytes for each weight, and one value for "hidden by a mask".

const HIDDEN = 65535;
const ONE = HIDDEN - 1;

/** Return the bytes of a message as numbers of two bytes. */
export function unpack(view) {
  // Numbers of two bytes may begin at even addresses only.
  const bytes = view.byteOffset % 2 ? view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) : view.buffer;
  return new Uint16Array(bytes, view.byteOffset % 2 ? 0 : view.byteOffset, view.byteLength / 2);
}

/** Return the weights of one layer in one sentence: `heads` tables of `nQuery` rows and `nKey` columns. */
export function table(numbers, start, heads, nQuery, nKey) {
  const size = nQuery * nKey;
  return { heads, nQuery, nKey, of: (head) => numbers.subarray(start + head * size, start + (head + 1) * size) };
}

/** Return the weights of a query (a row) or a key (a column) in one head; hidden ones are null. */
export function line(table, head, { query = null, key = null }) {
  const { nQuery, nKey } = table;
  const cells = table.of(head);
  const [first, step, n] = query !== null ? [query * nKey, 1, nKey] : [key, nKey, nQuery];
  return Array.from({ length: n }, (_, i) => (cells[first + i * step] === HIDDEN ? null : cells[first + i * step] / ONE));
}

/** Return the weights of a head that are not below the least, each as `[query, key, weight]`. */
export function atLeast(table, head, least) {
  const found = [];
  const lowest = Math.floor(least * ONE); // a weight of 0.1 is sent as a little less
  table.of(head).forEach((level, at) => {
    if (level !== HIDDEN && level >= lowest) found.push([Math.floor(at / table.nKey), at % table.nKey, level / ONE]);
  });
  return found;
}

/** Return the places of the largest weights, largest first; equal ones in their order, hidden ones left out. */
export function largest(weights, n) {
  const places = weights.map((_, i) => i).filter((i) => weights[i] !== null);
  return places.sort((a, b) => weights[b] - weights[a] || a - b).slice(0, n);
}

/** Paint the cells of a head as pixels, four bytes each; `colors` are those of `palette`. */
export function paint(cells, colors, pixels) {
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, cells.length);
  for (let i = 0; i < cells.length; i++) words[i] = colors[cells[i]];
}

/** Return the color of every possible number, given the color of a weight and that of what is hidden. */
export function palette(color, hidden) {
  const bytes = new Uint8ClampedArray(4 * (HIDDEN + 1));
  for (let level = 0; level <= HIDDEN; level++) bytes.set([...(level === HIDDEN ? hidden : color(level / ONE)), 255], 4 * level);
  return new Uint32Array(bytes.buffer);
}
