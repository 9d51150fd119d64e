import assert from "node:assert/strict";
import { test } from "node:test";
import { ruleText } from "../../web/src/logic/rule-text.ts";

test("a rule is shown with its selector first", () => {
  assert.equal(ruleText(".price"), ".price");
  assert.equal(ruleText({ css: ".price" }), ".price");
  assert.equal(ruleText({ css: ".price", type: "number" }), '.price {"type":"number"}');
  assert.equal(ruleText({ xpath: "//td[1]", all: true }), 'xpath: //td[1] {"all":true}');
  assert.equal(ruleText({ value: "x" }), '{"value":"x"}');
  assert.equal(ruleText(null), "null");
});
