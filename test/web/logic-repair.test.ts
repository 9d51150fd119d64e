import assert from "node:assert/strict";
import { test } from "node:test";
import { actorText } from "../../web/src/logic/actor.ts";
import { ruleText } from "../../web/src/logic/rule-text.ts";

test("a rule is shown with its selector first", () => {
  assert.equal(ruleText(".price"), ".price");
  assert.equal(ruleText({ css: ".price" }), ".price");
  assert.equal(ruleText({ css: ".price", type: "number" }), '.price {"type":"number"}');
  assert.equal(ruleText({ xpath: "//td[1]", all: true }), 'xpath: //td[1] {"all":true}');
  assert.equal(ruleText({ value: "x" }), '{"value":"x"}');
  assert.equal(ruleText(null), "null");
});

test("who did something is named by what it is", () => {
  const texts = (["key", "person", "token", "local", "schedule", "repair", "system"] as const).map((kind) =>
    actorText({ kind, id: null, name: "Shop" }),
  );
  assert.deepEqual(texts, [
    "Key Shop",
    "Shop",
    "Server token",
    "Local user",
    "Schedule of Shop",
    "Automatic repair",
    "Orbweaver",
  ]);
});
