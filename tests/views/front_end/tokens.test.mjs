import assert from "node:assert/strict";
import test from "node:test";

import { visible } from "../../../transformer_lab/views/front_end/tokens.mjs";

test("spaces and line breaks in a token can be seen", () => {
  assert.equal(visible(" the cat\n"), "␣the␣cat⏎");
  assert.equal(visible(""), "∅");
});
