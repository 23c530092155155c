import assert from "node:assert/strict";
import test from "node:test";

import { apart, tenths, timeLeft } from "../../../../transformer_course/views/front_end/training_view.mjs";

test("a weight is written in the room of a cell, and a full one is not a 0", () => {
  assert.deepEqual([0, 0.04, 0.1, 0.34, 0.949, 0.96, 1].map(tenths), ["", "", ".1", ".3", ".9", "1", "1"]);
});

test("time left is said no more precisely than it is known", () => {
  const said = [0.2, 42.4, 100, 1200, 9000].map(timeLeft);
  assert.deepEqual(said, ["1 s", "42 s", "2 min", "20 min", "2.5 h"].map((time) => `about ${time} left`));
});

test("losses are drawn beside the training's, and all other scores apart", () => {
  const [losses, scores] = apart([{ name: "held-out loss" }, { name: "exact" }, { name: "losses avoided" }]);
  assert.deepEqual([losses.length, scores.length], [1, 2]);
});
