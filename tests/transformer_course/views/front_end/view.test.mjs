import assert from "node:assert/strict";
import test from "node:test";

import { modelOf } from "../../../../transformer_course/views/front_end/view.mjs";

test("without a kernel a view has its stored traits, and hears of its own changes until it no longer listens", () => {
  const model = modelOf({ text: "cat", keys: { base64: "AAEC" }, nothing: null });
  assert.equal(model.get("text"), "cat");
  assert.equal(model.get("nothing"), null);
  assert.deepEqual([...new Uint8Array(model.get("keys").buffer)], [0, 1, 2]);
  const heard = [];
  const react = () => heard.push(model.get("text"));
  model.on("change:text", react);
  model.on("change:text", react);
  model.set("text", "dog");
  model.set("keys", null);
  model.save_changes();
  model.off("change:text", react);
  model.set("text", "hen");
  assert.deepEqual(heard, ["dog"]);
});
