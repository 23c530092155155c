import assert from "node:assert/strict";
import test from "node:test";

import { rangeOf } from "../../../../transformer_course/views/front_end/progress_chart.mjs";

test("fractions are drawn from 0 to 1, and so is nothing", () => {
  assert.deepEqual(rangeOf([[[1, 0.2], [2, 0.9]]], true), [0, 1]);
  assert.deepEqual(rangeOf([], true), [0, 1]);
  assert.deepEqual(rangeOf([[]], false), [0, 1]);
});

test("other numbers are drawn with a little room, and what is no number is left out", () => {
  const [least, most] = rangeOf([[[1, 2], [2, 4], [3, null]]], true);
  assert.ok(least < 2 && least > 1.5 && most > 4 && most < 4.5);
  assert.equal(rangeOf([[[1, 0], [2, 4]]], false)[0], 0);
  assert.deepEqual(rangeOf([[[1, -3]]], true), [-3.5, -2.5]);
});
