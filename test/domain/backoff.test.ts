import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { type Random, seededRandom } from "../../src/base/random.ts";
import { retryDelay, siteHold } from "../../src/domain/lane/backoff.ts";

const RULE = { baseMs: 10_000, maxMs: 300_000 };
const always = (value: number): Random => ({ next: () => value, uuid: () => "" });

test("waits are 10, 30, 90, 270 and then 300 seconds", () => {
  const waits = [1, 2, 3, 4, 5, 6].map((attempt) => retryDelay(RULE, attempt, always(0)));
  assert.deepEqual(waits, [10_000, 30_000, 90_000, 270_000, 300_000, 300_000]);
});

test("chance adds up to a tenth, never takes away", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000 }), fc.integer(), (attempt, seed) => {
      const plain = retryDelay(RULE, attempt, always(0));
      const wait = retryDelay(RULE, attempt, seededRandom(seed));
      assert.ok(wait >= plain && wait <= plain * 1.1 + 1, `${wait} for ${plain}`);
    }),
  );
});

test("a longer Retry-After wins, a shorter one does not", () => {
  assert.equal(retryDelay(RULE, 1, always(0), 45_000), 45_000);
  assert.equal(retryDelay(RULE, 1, always(0), 4000), 10_000);
});

test("a site's rest doubles up to the limit, however often it asks", () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((step) => siteHold(RULE, step)),
    [10_000, 20_000, 40_000, 80_000],
  );
  for (const step of [5, 31, 1000, 1e9]) assert.equal(siteHold(RULE, step), 300_000);
});
