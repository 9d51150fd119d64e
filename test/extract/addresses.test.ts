import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentByGroup } from "../../src/domain/lane/recent.ts";
import { AddressResolver } from "../../src/extract/dom/addresses.ts";
import fc from "../support/properties.ts";

const BASES = [
  null,
  "https://shop.example/",
  "https://shop.example/a/b/page.html",
  "https://shop.example/a/b/other?x=/y/z#top",
  "http://user:secret@shop.example:8080/a/",
  "https://shop.example/a\\b",
  "https://shop.example/a/..",
  "about:blank",
  "data:text/html,x",
  "file:///a/b/c",
];
const PARTS = [
  ..."/?#.\\: %@\t\n\u0001aé",
  "..",
  "./",
  "//",
  "a/b",
  "http:",
  "https://x.example",
  "mailto:a@b",
  "%2e%2e",
];
const address = fc.array(fc.constantFrom(...PARTS), { maxLength: 5 }).map((parts) => parts.join("").trim());

test("an address on a page resolves as it would without the pages before", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...BASES), address), { minLength: 1, maxLength: 30 }), (links) => {
      for (const [base, text] of links) {
        const expected = URL.parse(text, base ?? undefined);
        const found = new AddressResolver(base).resolve(text);
        assert.deepEqual(
          found,
          expected === null ? null : { href: expected.href, protocol: expected.protocol },
          `${text} on ${base}`,
        );
      }
    }),
  );
});

test("of many addresses the last ones are kept, up to so many entries and characters", () => {
  for (const most of [
    { entries: 100, characters: 1_000_000 },
    { entries: 1_000_000, characters: 400 },
  ]) {
    const kept = new RecentByGroup<number>(most);
    for (let index = 0; index < 10_000; index += 1) kept.set(`group ${index % 3}`, `k${index % 5000}`, index);
    const left = Array.from({ length: 10_000 }, (_, index) => kept.get(`group ${index % 3}`, `k${index % 5000}`));
    assert.ok(left.filter((value) => value !== undefined).length <= 2 * 101);
    assert.equal(kept.get("group 0", "k4999"), 9999);
    assert.equal(kept.get("group 1", "k4999"), undefined);
  }
});
