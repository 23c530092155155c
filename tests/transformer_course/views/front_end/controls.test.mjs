// Run by tests/transformer_course/views/test_javascript.py, or by `node --test tests/transformer_course/views/front_end/`.

import assert from "node:assert/strict";
import test from "node:test";

import { destination } from "../../../../transformer_course/views/front_end/controls.mjs";

test("in a row, all four arrow keys move by one and stop at the ends", () => {
  const keys = ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "Home", "End", "a"];
  assert.deepEqual(keys.map((key) => destination(key, 2, 5)), [3, 3, 1, 1, 0, 4, null]);
  assert.equal(destination("ArrowLeft", 0, 5), null);
  assert.equal(destination("ArrowRight", 4, 5), null);
});

test("in a table, left and right stay in the row, and up and down in the column", () => {
  const keys = ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "Home", "End"];
  assert.deepEqual(keys.map((key) => destination(key, 4, 9, 3)), [5, 7, 3, 1, 3, 5]);
  assert.deepEqual(keys.map((key) => destination(key, 8, 9, 3)), [null, null, 7, 5, 6, 8]);
});
