import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { parseRetryAfter } from "../../src/domain/lane/retry-after.ts";

const NOW = Date.UTC(1994, 10, 6, 8, 49, 0);

test("seconds are waited as they are", () => {
  assert.equal(parseRetryAfter("120", NOW), 120_000);
  assert.equal(parseRetryAfter(" 0 ", NOW), 0);
  assert.equal(parseRetryAfter("1.5", NOW), 1500);
  assert.equal(parseRetryAfter("9".repeat(400), NOW), Number.MAX_SAFE_INTEGER);
});

for (const date of [
  "Sun, 06 Nov 1994 08:49:37 GMT",
  "Sunday, 06-Nov-94 08:49:37 GMT",
  "Sun Nov  6 08:49:37 1994",
  "sun, 6 nov 1994 08:49:37 gmt",
]) {
  test(`"${date}" is 37 seconds away`, () => assert.equal(parseRetryAfter(date, NOW), 37_000));
}

test("a time that is past asks for no wait", () => {
  assert.equal(parseRetryAfter("Sat, 05 Nov 1994 08:49:37 GMT", NOW), 0);
});

test("a two-digit year far ahead is of the past century", () => {
  const now = Date.UTC(2026, 0, 1);
  assert.equal(parseRetryAfter("Sunday, 06-Nov-94 08:49:37 GMT", now), 0);
  assert.equal(parseRetryAfter("Thursday, 01-Jan-26 00:01:00 GMT", now), 60_000);
});

for (const garbage of [
  null,
  undefined,
  "",
  "soon",
  "-5",
  "1e3",
  "0x10",
  "12 seconds",
  "Sun, 31 Feb 1994 08:49:37 GMT",
  "Sun, 06 Foo 1994 08:49:37 GMT",
  "Sun, 06 Nov 1994 25:49:37 GMT",
  "Sun, 06 Nov 1994 08:49:37 CET",
  "1994-11-06T08:49:37Z",
]) {
  test(`${JSON.stringify(garbage)} says nothing`, () => assert.equal(parseRetryAfter(garbage, NOW), null));
}

test("every date that a server can write is read back to the second", () => {
  const [from, to] = [Date.UTC(1970, 0, 1), Date.UTC(2100, 0, 1)];
  fc.assert(
    fc.property(fc.integer({ min: from / 1000, max: to / 1000 }), (second) => {
      const date = new Date(second * 1000);
      assert.equal(parseRetryAfter(date.toUTCString(), from), second * 1000 - from);
    }),
  );
});

test("no header makes it throw or answer a negative wait", () => {
  fc.assert(fc.property(fc.string(), (text) => (parseRetryAfter(text, NOW) ?? 0) >= 0));
});
