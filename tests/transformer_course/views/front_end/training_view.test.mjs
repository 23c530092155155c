import assert from "node:assert/strict";
import test from "node:test";

import { tenths } from "../../../../transformer_course/views/front_end/training_view.mjs";

test("a weight is written in the room of a cell, and a full one is not a 0", () => {
  assert.deepEqual([0, 0.04, 0.1, 0.34, 0.949, 0.96, 1].map(tenths), ["", "", ".1", ".3", ".9", "1", "1"]);
});
