import assert from "node:assert/strict";
import test from "node:test";

import { PRESETS, preset, reached, weights } from "../../../../transformer_course/views/front_end/masks.mjs";

const tokens = ["<pad>", "I", "like"];
const format = (mask) => mask.map((row) => row.map(Number).join("")).join(" ");

test("each preset has its own mask", () => {
  const masks = Object.keys(PRESETS).map((name) => format(preset(name, tokens)));
  assert.deepEqual(masks, [
    "111 111 111",
    "100 110 111",
    "110 111 111",
    "100 110 011",
    "011 011 011",
    "000 010 011",
    "000 000 000",
  ]);
});

test("weights of the allowed keys sum to 1, and a row without allowed keys has no weights", () => {
  const allowed = [[true, true, false], [true, false, false], [false, false, false]];
  const left = weights([[Math.log(3), 0, 900], [-900, 0, 0], [0, 0, 0]], allowed);
  assert.ok(Math.abs(left[0][0] - 0.75) < 1e-12 && Math.abs(left[0][1] - 0.25) < 1e-12 && left[0][2] === null);
  assert.deepEqual(left.slice(1), [[1, null, null], [null, null, null]]);
});

test("each layer of a window reaches one output further and never an earlier one", () => {
  const window = preset("window of 2", ["a", "b", "c", "d"]);
  assert.deepEqual(reached(window, 1, 1), [false, true, true, false]);
  assert.deepEqual(reached(window, 1, 2), [false, true, true, true]);
  assert.deepEqual(reached(preset("nothing", tokens), 2, 3), [false, false, true]);
});
