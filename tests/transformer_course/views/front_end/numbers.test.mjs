import assert from "node:assert/strict";
import test from "node:test";

import { plain, written } from "../../../../transformer_course/views/front_end/numbers.mjs";

test("numbers have two decimals, large numbers have none, and there is no minus zero", () => {
  const numbers = [1.234, -0.5, -0.001, 99.99, 100, -2021.4];
  assert.deepEqual(numbers.map(written), ["1.23", "−0.50", "0.00", "99.99", "100", "−2021"]);
});

test("plain numbers have no trailing zeros", () => {
  assert.deepEqual([10, -0.5, 2.345].map(plain), ["10", "−0.5", "2.35"]);
});
