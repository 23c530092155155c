import assert from "node:assert/strict";
import test from "node:test";

import { nearest } from "../../../../transformer_course/views/front_end/stops.mjs";

test("nearest stop is found by ratio if all stops are positive, otherwise by distance", () => {
  assert.deepEqual([0.01, 4, 30, 1000].map((number) => nearest([0.01, 1, 10, 100], number)), [0, 2, 2, 3]);
  assert.deepEqual([0, 4, 30].map((number) => nearest([0, 5, 10], number)), [0, 1, 2]);
});
