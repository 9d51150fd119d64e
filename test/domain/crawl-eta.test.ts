import assert from "node:assert/strict";
import { test } from "node:test";
import { crawlEta } from "../../src/domain/crawl/crawl-eta.ts";

const PACE = { open: 100, allowed: 1000, perSecond: 2, foundPerSecond: 0, limitSeconds: null };

test("where nothing new is found, both ends are what is known at this pace", () => {
  assert.deepEqual(crawlEta(PACE), { least: 50, most: 50 });
});

test("where half a page is found for each that is done, it takes up to twice as long", () => {
  assert.deepEqual(crawlEta({ ...PACE, foundPerSecond: 1 }), { least: 50, most: 100 });
});

test("where more is found than done, its limits of pages and time end it", () => {
  assert.deepEqual(crawlEta({ ...PACE, foundPerSecond: 8, allowed: 400 }), { least: 50, most: 200 });
  assert.deepEqual(crawlEta({ ...PACE, foundPerSecond: 8, limitSeconds: 120 }), { least: 50, most: 120 });
  assert.deepEqual(crawlEta({ ...PACE, limitSeconds: 20 }), { least: 20, most: 20 });
  assert.deepEqual(crawlEta({ ...PACE, allowed: 10 }), { least: 5, most: 5 }, "it may not do all that is known");
});

test("it is not over before the site is tried again that waits the longest", () => {
  assert.deepEqual(crawlEta({ ...PACE, waitSeconds: 300 }), { least: 300, most: 300 });
});

test("a range that tells nobody anything is not said, and nothing is before enough pages have ended", () => {
  assert.deepEqual(crawlEta({ ...PACE, foundPerSecond: 8 }), { least: 50, most: null });
  assert.equal(crawlEta({ ...PACE, ended: 3 }), null);
  assert.deepEqual(crawlEta({ ...PACE, ended: 10 }), { least: 50, most: 50 });
});

test("what is not known is not said", () => {
  assert.deepEqual(crawlEta({ ...PACE, foundPerSecond: null }), { least: 50, most: null });
  assert.equal(crawlEta({ ...PACE, perSecond: 0 }), null);
  assert.equal(crawlEta({ ...PACE, open: 0 }), null);
});
