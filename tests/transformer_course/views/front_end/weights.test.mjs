import assert from "node:assert/strict";
import test from "node:test";

import { atLeast, largest, line, paint, palette, table, unpack } from "../../../../transformer_course/views/front_end/weights.mjs";

const ONE = 65534;
const HIDDEN = 65535;
// Two heads with two queries and three keys. The first number belongs to another table.
const numbers = Uint16Array.of(7, 0, ONE / 2, HIDDEN, ONE, 0, HIDDEN, ONE / 2, 0, 0, 0, 0, ONE);
const both = table(numbers, 1, 2, 2, 3);

test("line returns a row or column of a head, with null for masked weights", () => {
  assert.deepEqual(line(both, 0, { query: 0 }), [0, 0.5, null]);
  assert.deepEqual(line(both, 1, { key: 2 }), [0, 1]);
});

test("atLeast returns large weights with their query and key, without masked weights", () => {
  assert.deepEqual(atLeast(both, 0, 0.5), [[0, 1, 0.5], [1, 0, 1]]);
  assert.deepEqual(atLeast(both, 1, 0).map(([query, key]) => 3 * query + key), [0, 1, 2, 3, 4, 5]);
});

test("largest sorts weights in descending, stable order, without masked weights", () => {
  assert.deepEqual(largest([0.2, null, 0.6, 0.2], 3), [2, 0, 3]);
  assert.deepEqual(largest([null], 3), []);
});

test("bytes that begin at an odd address are read correctly", () => {
  const bytes = new Uint8Array([9, 1, 2, 3, 4]);
  assert.deepEqual([...unpack(new DataView(bytes.buffer, 1, 4))], [0x0201, 0x0403]);
  assert.deepEqual([...unpack(new DataView(bytes.buffer, 0, 4))], [0x0109, 0x0302]);
});

test("a pixel has the color of its weight or of masked weights", () => {
  const colors = palette((weight) => [Math.round(255 * weight), 0, 0], [1, 2, 3]);
  const pixels = new Uint8ClampedArray(8);
  paint(Uint16Array.of(ONE, HIDDEN), colors, pixels);
  assert.deepEqual([...pixels], [255, 0, 0, 255, 1, 2, 3, 255]);
});
