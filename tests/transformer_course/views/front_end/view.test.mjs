import assert from "node:assert/strict";
import test from "node:test";

import { modelOf } from "../../../../transformer_course/views/front_end/view.mjs";

test("local model has the stored traits and notifies each listener until it is removed", () => {
  const model = modelOf({ text: "cat", keys: { base64: "AAEC" }, nothing: null });
  assert.equal(model.get("text"), "cat");
  assert.equal(model.get("nothing"), null);
  assert.deepEqual([...new Uint8Array(model.get("keys").buffer)], [0, 1, 2]);
  const values = [];
  const react = () => values.push(model.get("text"));
  model.on("change:text", react);
  model.on("change:text", react);
  model.set("text", "dog");
  model.set("keys", null);
  model.save_changes();
  model.off("change:text", react);
  model.set("text", "hen");
  assert.deepEqual(values, ["dog"]);
});
