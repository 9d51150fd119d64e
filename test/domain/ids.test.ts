import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { decodeId, encodeId, ID_KINDS, type IdKind } from "../../src/domain/run/ids.ts";

const kind = fc.constantFrom(...(Object.keys(ID_KINDS) as IdKind[]));
const row = fc.maxSafeNat();

test("an id is a UUID that gives back its row, in either case", () => {
  fc.assert(
    fc.property(fc.uuid(), kind, row, (instance, of, number) => {
      const id = encodeId(instance, of, number);
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.equal(decodeId(instance, of, id), number);
      assert.equal(decodeId(instance, of, id.toUpperCase()), number);
    }),
  );
});

test("rows in order have ids in order", () => {
  fc.assert(
    fc.property(fc.uuid(), row, row, (instance, a, b) => {
      assert.equal(encodeId(instance, "task", a) < encodeId(instance, "task", b), a < b);
    }),
  );
});

test("an id of another kind or instance is nobody's", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), kind, kind, row, (mine, other, one, two, number) => {
      const id = encodeId(mine, one, number);
      if (one !== two) assert.equal(decodeId(mine, two, id), null);
      if (mine.slice(0, 13) !== other.slice(0, 13)) assert.equal(decodeId(other, one, id), null);
    }),
  );
});

test("anything else is nobody's, and no text makes it throw", () => {
  const instance = "0b5cb1c4-11f3-4c5a-9f0e-0d9d5a6c8a11";
  const good = encodeId(instance, "task", 7);
  const tooLarge = `${good.slice(0, 19)}8fff-${"f".repeat(12)}`;
  for (const text of ["", "7", `${good} `, `{${good}}`, good.slice(1), good.replaceAll("-", ""), tooLarge]) {
    assert.equal(decodeId(instance, "task", text), null, text);
  }
  fc.assert(fc.property(fc.string(), (text) => decodeId(instance, "task", text) === null));
});
