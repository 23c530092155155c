import assert from "node:assert/strict";
import test from "node:test";

import { ticksOf } from "../../../../transformer_course/views/front_end/progress_chart.mjs";

test("fractions and empty curves are drawn from 0 to 1", () => {
  assert.deepEqual(ticksOf([[[1, 0.2], [2, 0.9]]], true), [0, 0.5, 1]);
  assert.deepEqual(ticksOf([], true), [0, 0.5, 1]);
  assert.deepEqual(ticksOf([[]], false), [0, 0.5, 1]);
});

test("other numbers are drawn between round numbers", () => {
  assert.deepEqual(ticksOf([[[1, 6.3], [2, 3.85], [3, null]]], true), [3, 4, 5, 6, 7]);
  assert.deepEqual(ticksOf([[[1, 0.67], [2, 0.2]]], false), [0.2, 0.4, 0.6, 0.8]);
  assert.deepEqual(ticksOf([[[1, 0], [2, 4]]], false), [0, 2, 4]);
  assert.deepEqual(ticksOf([[[1, -30], [2, 250]]], false), [-100, 0, 100, 200, 300]);
});

test("a single number has ticks around it", () => {
  for (const number of [0, 4, -3, 1e-5, 7e8]) {
    const ticks = ticksOf([[[1, number]]], false);
    assert.ok(ticks.length >= 2 && ticks.length <= 6 && ticks[0] <= number && number <= ticks.at(-1), String(ticks));
  }
});

test("there are never more than six ticks", () => {
  for (let least = -5; least < 5; least += 0.37) {
    for (const width of [0.001, 0.03, 0.99, 1, 7, 31, 1e6]) {
      const ticks = ticksOf([[[1, least], [2, least + width]]], false);
      assert.ok(ticks.length <= 6 && ticks[0] <= least && ticks.at(-1) >= least + width, String(ticks));
    }
  }
});
