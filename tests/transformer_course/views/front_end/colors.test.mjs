import assert from "node:assert/strict";
import test from "node:test";

import { hue, ink, tint, viridis } from "../../../../transformer_course/views/front_end/colors.mjs";

test("color of a weight goes from dark to bright and is clamped outside the range", () => {
  const brightness = Array.from({ length: 101 }, (_, i) => viridis(i / 100).reduce((sum, part) => sum + part));
  assert.ok(brightness.every((value, i) => i === 0 || value >= brightness[i - 1]));
  assert.deepEqual(viridis(1.5), viridis(1));
  assert.equal(tint(0), "rgb(68 1 84)");
  assert.deepEqual([ink(0.1), ink(0.9)], ["white", "black"]);
});

test("hues are evenly spaced around the whole circle", () => {
  const hues = Array.from({ length: 12 }, (_, i) => hue(i, 12)).sort((a, b) => a - b);
  assert.ok(hues.every((value, i) => value >= 0 && value < 360 && (i === 0 || Math.abs(value - hues[i - 1] - 30) < 1e-9)));
});
