import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { createSeal } from "../../src/base/seal.ts";

const seal = createSeal("a secret of good length");
const isWrongKey = (error: unknown) => isOrbError(error, "secret_key_wrong");

test("what was sealed opens as it was, whatever it is", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, about) => {
      const opened = seal.open(seal.close(value, about), about);
      assert.deepEqual(opened, JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("another process with the same secret opens it", () => {
  const again = createSeal("a secret of good length");
  assert.deepEqual(again.open(seal.close({ cookies: ["a"] }, "session"), "session"), { cookies: ["a"] });
});

test("nothing of the value can be read in it, and the same value never looks the same", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 6 }), (text) => {
      const [one, two] = [seal.close({ text }, "job"), seal.close({ text }, "job")];
      assert.ok(!Buffer.from(one).includes(text));
      assert.notDeepEqual(one, two);
    }),
  );
});

test("with another secret, or for another purpose, it stays closed", () => {
  const sealed = seal.close({ password: "x" }, "session");
  assert.throws(() => createSeal("another secret of good length").open(sealed, "session"), isWrongKey);
  assert.throws(() => seal.open(sealed, "job"), isWrongKey);
  assert.throws(() => seal.open(sealed, ""), isWrongKey);
});

test("a changed, cut, lengthened or empty piece of bytes stays closed", () => {
  const sealed = Buffer.from(seal.close({ password: "correct horse" }, "session"));
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = changed[at]! ^ 1;
    assert.throws(() => seal.open(changed, "session"), isWrongKey, `byte ${at}`);
    assert.throws(() => seal.open(sealed.subarray(0, at), "session"), isWrongKey, `the first ${at} bytes`);
  }
  assert.throws(() => seal.open(Buffer.concat([sealed, Buffer.from([0])]), "session"), isWrongKey);
});

test("a mark tells texts apart, is the same in every process, and needs the secret", () => {
  assert.equal(createSeal("a secret of good length").mark("pass"), seal.mark("pass"));
  assert.notEqual(seal.mark("pass"), seal.mark("past"));
  assert.notEqual(createSeal("another secret of good length").mark("pass"), seal.mark("pass"));
  assert.match(seal.mark(""), /^[0-9a-f]{64}$/);
});

test("what cannot be opened says what to do, and nothing of what was in it", () => {
  const sealed = seal.close({ password: "correct horse" }, "session");
  try {
    createSeal("another secret of good length").open(sealed, "session");
    assert.fail("it opened");
  } catch (error) {
    assert.ok(isOrbError(error, "secret_key_wrong"));
    assert.match(error.hint ?? "", /APP_SECRET_KEY/);
    assert.ok(!JSON.stringify({ ...error, message: error.message }).includes("horse"));
  }
});
