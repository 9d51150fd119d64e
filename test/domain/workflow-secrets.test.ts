import assert from "node:assert/strict";
import { test } from "node:test";
import { createSeal } from "../../src/base/seal.ts";
import { HIDDEN, isSealed, withoutSecrets } from "../../src/domain/text/sealed-text.ts";
import { openSecrets, sealDefinition } from "../../src/domain/workflow/secrets/secrets.ts";

const SCHEMA = {
  type: "object",
  properties: {
    url: { type: "string" },
    headers: { type: "object", additionalProperties: { type: "string", writeOnly: true } },
    keys: { anyOf: [{ type: "null" }, { type: "array", items: { type: "string", writeOnly: true } }] },
  },
};
const seal = createSeal("a key that only tests know");

const call = (headers: Record<string, string>, more: object = {}) => ({
  name: "w",
  steps: [{ name: "call", task_type: "hook", params: { url: "https://a.example/", headers, ...more } }],
});

function store(definition: ReturnType<typeof call>, before: unknown = null, by = seal) {
  const told: string[] = [];
  const stored = sealDefinition(
    by,
    (kind) => (kind === "hook" ? SCHEMA : undefined),
    definition,
    before,
    (path, message) => told.push(`${path}: ${message}`),
  );
  return { stored, told, params: stored.steps[0]!.params };
}

test("write-only texts are sealed, hidden from readers, and opened for the step; the rest stays as it is", () => {
  const given = call({ authorization: "Bearer x", trace: "${{ params.trace }}" }, { keys: ["first-key"] });
  const { stored, params } = store(given);
  // What is sealed is random: of a short text it would have the letters now and then.
  assert.ok(!JSON.stringify(stored).includes("Bearer") && !JSON.stringify(stored).includes("first-key"));
  assert.deepEqual(
    withoutSecrets(stored),
    call({ authorization: HIDDEN, trace: "${{ params.trace }}" }, { keys: [HIDDEN] }),
  );
  assert.deepEqual(openSecrets(seal, SCHEMA, params), given.steps[0]!.params);
  assert.throws(() => openSecrets(createSeal("another"), SCHEMA, params), { code: "secret_key_wrong" });
  const elsewhere = openSecrets(seal, SCHEMA, { url: params.headers["authorization"]! });
  assert.ok(isSealed(elsewhere["url"]), "it opens where the schema says, and nowhere else");
});

test("what is shown may be sent back for a step that stays the same, and nowhere else", () => {
  const { stored: before } = store(call({ a: "1", b: "2" }));
  assert.deepEqual(store(call({ a: HIDDEN, b: HIDDEN }), before).stored, before);
  assert.deepEqual(store(before, before).stored, before, "as it is stored");
  assert.deepEqual(store(call({ a: "1", b: "2" }), before).stored, before, "given anew, and the same");
  const other = store(call({ a: "3", b: HIDDEN }), before);
  assert.deepEqual(openSecrets(seal, SCHEMA, other.params)["headers"], { a: "3", b: "2" });
  const refused = [
    store(call({ a: HIDDEN })),
    store(call({ a: HIDDEN, b: "2" }, { url: "https://b.example/" }), before),
    store(call({ a: HIDDEN, c: "2" }), before),
  ];
  for (const { told } of refused)
    assert.match(told.join(), /^steps\[0\]\.params\.headers\.a: \*\*\* is a placeholder[^,]*send the value itself$/);
  const anew = store(call({ a: "1", b: "2" }), before, createSeal("another"));
  assert.deepEqual(anew.told, [], "given anew under another key");
});
