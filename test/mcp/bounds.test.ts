import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { costOf, cutAt, fitRecord, partOf, takeFitting } from "../../src/mcp/bounds.ts";
import { decodeCursor, encodeCursor } from "../../src/mcp/cursor.ts";

const texts = fc.oneof(
  fc.string({ maxLength: 3000, unit: "binary" }),
  fc.array(fc.lorem(), { maxLength: 60 }).map((lines) => lines.join("\n\n")),
);
const values = fc.oneof(texts, fc.array(fc.webUrl(), { maxLength: 80 }), fc.integer(), fc.object({ maxDepth: 2 }));

test("a record is cut to the room there is, whatever it holds, and says what was cut", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ maxLength: 30 }), values),
      fc.integer({ min: 800, max: 8000 }),
      (record, room) => {
        const { record: shown, cuts, leftOut } = fitRecord(record, room);
        assert.ok(costOf(shown) <= room);
        assert.equal(Object.keys(shown).length + leftOut.length, Object.keys(record).length);
        for (const { field, shown: part, total } of cuts) assert.ok(part < total && field in shown);
      },
    ),
  );
});

test("a cut record keeps a field of the name __proto__", () => {
  const record = JSON.parse(`{"__proto__": "one", "long": "${"x".repeat(2000)}"}`) as Record<string, unknown>;
  const { record: shown, cuts } = fitRecord(record, 1000);
  assert.deepEqual(Object.keys(shown), ["__proto__", "long"]);
  assert.deepEqual(
    cuts.map(({ field }) => field),
    ["long"],
  );
});

test("the parts of a long text, one behind the other, are the text", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 120, max: 2000 }), (text, room) => {
      let whole = "";
      for (let at = 0; at < text.length;) {
        const { part, end } = partOf(text, at, room);
        assert.ok(end > at && costOf(part) <= room);
        whole += part as string;
        at = end;
      }
      assert.equal(whole, text);
    }),
  );
});

test("a text is cut behind a paragraph, a line, a sentence or a word, where one ends near enough", () => {
  assert.equal(cutAt("one. two three\n\nfour five", 18), 16);
  assert.equal(cutAt("one two. three", 10), 9);
  assert.equal(cutAt("one two three", 9), 8);
  assert.equal(cutAt("x".repeat(20), 9), 9);
  assert.equal(cutAt(`${"x".repeat(8)}🕸${"x".repeat(8)}`, 9), 8, "no half of a character");
});

test("a list is taken as far as it fits, and a cursor comes back as it was", () => {
  assert.deepEqual(takeFitting([1, 22, 333], 7), [1, 22]);
  assert.deepEqual(takeFitting([1, 22], 100), [1, 22]);
  const place = { page: "MTphYmM", index: 3, within: { field: "ä/b", offset: 12 } };
  assert.deepEqual(decodeCursor(encodeCursor(place)), place);
  for (const bad of [
    "",
    "nonsense",
    Buffer.from("[1,2]").toString("base64url"),
    Buffer.from('["",-1]').toString("base64url"),
  ])
    assert.throws(() => decodeCursor(bad), /cursor: is not a cursor/);
});
