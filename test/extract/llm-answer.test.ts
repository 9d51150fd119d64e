import assert from "node:assert/strict";
import { test } from "node:test";
import { readAnswer } from "../../src/extract/llm/answer.ts";

const read = (content: string) => readAnswer(content, { schema: { type: "object" } } as never, null);

test("what a model says around its answer is left out", () => {
  for (const said of ['{"a":1}', '```json\n{"a":1}\n```', 'Here:\n```\n{"a":1}\n```\nDone.', 'Well, {"a":1} it is.'])
    assert.deepEqual(read(said), { records: [{ a: 1 }] }, said);
  assert.deepEqual(read("no idea"), { wrong: ["it is not JSON"] });
});

test("a fence that never ends, with as many lines as an answer may have, is no JSON, and is known as that at once", () => {
  // As a pattern it took hours.
  assert.deepEqual(read(`\`\`\`json${"\n".repeat(1_000_000)}`), { wrong: ["it is not JSON"] });
});
