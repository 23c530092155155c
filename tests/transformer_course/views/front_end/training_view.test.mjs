import assert from "node:assert/strict";
import test from "node:test";

import { splitLosses, tenths, timeLeft } from "../../../../transformer_course/views/front_end/training_view.mjs";

test("weights are shortened to fit a cell, and small weights are omitted", () => {
  assert.deepEqual([0, 0.04, 0.1, 0.34, 0.949, 0.96, 1].map(tenths), ["", "", ".1", ".3", ".9", "1", "1"]);
});

test("time left is rounded to seconds, minutes or tenths of hours", () => {
  const estimates = [0.2, 42.4, 100, 1200, 9000].map(timeLeft);
  assert.deepEqual(estimates, ["1 s", "42 s", "2 min", "20 min", "2.5 h"].map((time) => `about ${time} left`));
});

test("scores are split into losses and all others", () => {
  const [losses, scores] = splitLosses([{ name: "held-out loss" }, { name: "exact" }, { name: "losses avoided" }]);
  assert.deepEqual([losses.length, scores.length], [1, 2]);
});
