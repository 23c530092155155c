import assert from "node:assert/strict";
import test from "node:test";

import { percent } from "../../../../transformer_course/views/front_end/sampling_dial.mjs";

test("a nonzero probability is never written as 0", () => {
  assert.equal(percent(0), "0.0 %");
  assert.equal(percent(1e-9), "< 0.1 %");
  assert.equal(percent(0.25), "25.0 %");
  assert.equal(percent(1), "100.0 %");
});
