import assert from "node:assert/strict";
import test from "node:test";

import { listed, numbered, visible } from "../../../../transformer_course/views/front_end/tokens.mjs";

test("spaces and line breaks in a token are visible", () => {
  assert.equal(visible(" the cat\n"), "␣the␣cat⏎");
  assert.equal(visible(""), "∅");
});

test("tokens in a sentence are quoted and joined with 'and'", () => {
  assert.equal(listed(["and"]), "“and”");
  assert.equal(listed(["I", "like"]), "“I” and “like”");
  assert.equal(listed(["I", "like", "you"]), "“I”, “like” and “you”");
});

test("a token has its position as a subscript", () => {
  assert.equal(numbered(" cat", 102), "␣cat₁₀₂");
});
