import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  FIXTURE_LIMITS,
  type FixtureFacts,
  type KeptFixture,
  replacedFixtures,
} from "../../src/domain/page/fixture.ts";
import { diffRecords } from "../../src/domain/page/record-diff.ts";
import fc from "../support/properties.ts";

const page = (url: string, more: Partial<FixtureFacts> = {}): FixtureFacts => ({
  url,
  size: 100,
  filled: 3,
  rules: "r",
  runId: "run-1",
  ...more,
});

/** Offers pages as runs do, and returns what is kept, oldest first. */
function offer(pages: readonly FixtureFacts[], limit: number) {
  let kept: KeptFixture[] = [];
  let writes = 0;
  for (const [index, candidate] of pages.entries()) {
    const replaced = replacedFixtures(kept, candidate, limit);
    if (replaced === null) continue;
    writes += 1;
    kept = [
      ...kept.filter(({ number }) => !replaced.includes(number)),
      { ...candidate, number: index + 1, fetchedAt: index },
    ];
  }
  return { kept, writes, urls: kept.map(({ url }) => url) };
}

describe("the pages that a job keeps", () => {
  test("a big crawl writes as many pages as are kept, and its next run one", () => {
    const crawl = (runId: string) => Array.from({ length: 1000 }, (_, n) => page(`/${n}`, { runId }));
    assert.equal(offer(crawl("1"), 5).writes, 5);
    const both = offer([...crawl("1"), ...crawl("2")], 5);
    assert.equal(both.writes, 6);
    assert.deepEqual(both.urls, ["/1", "/2", "/3", "/4", "/0"], "the oldest was refreshed");
  });

  test("a page with more fields replaces one of its run, one with fewer replaces none", () => {
    const first = [page("/a", { filled: 1 }), page("/b", { filled: 2 }), page("/c", { filled: 3 })];
    assert.deepEqual(offer(first, 2).urls, ["/b", "/c"]);
    assert.deepEqual(offer([...first, page("/d", { filled: 1, runId: "run-2" })], 2).urls, ["/b", "/c"]);
    assert.deepEqual(offer([...first, page("/d", { filled: 2, runId: "run-2" })], 2).urls, ["/c", "/d"]);
  });

  test("one page that runs again and again is kept once, as it was last", () => {
    const { urls, kept } = offer(
      ["1", "2", "3"].map((runId) => page("/", { runId })),
      5,
    );
    assert.deepEqual(urls, ["/"]);
    assert.equal(kept[0]?.runId, "3");
  });

  test("after the rules have changed, the next run replaces all pages", () => {
    const run = (runId: string, rules: string) => ["/a", "/b", "/c"].map((url) => page(url, { runId, rules }));
    const { kept } = offer([...run("1", "old"), ...run("2", "new")], 3);
    assert.deepEqual(
      kept.map(({ url, rules }) => [url, rules]),
      [
        ["/a", "new"],
        ["/b", "new"],
        ["/c", "new"],
      ],
    );
  });

  test("never more pages or bytes than allowed, and never one URL twice", () => {
    const candidates = fc.array(
      fc.record({
        url: fc.constantFrom("/a", "/b", "/c", "/d", "/e", "/f"),
        size: fc.constantFrom(1, 1000, FIXTURE_LIMITS.jobBytes / 3, FIXTURE_LIMITS.jobBytes + 1),
        filled: fc.nat(3),
        rules: fc.constantFrom("r", "s"),
        runId: fc.constantFrom("1", "2", "3"),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(candidates, fc.nat(4), (pages, limit) => {
        const { kept, urls } = offer(pages, limit);
        assert.ok(kept.length <= limit);
        assert.equal(new Set(urls).size, urls.length);
        assert.ok(kept.reduce((sum, { size }) => sum + size, 0) <= FIXTURE_LIMITS.jobBytes);
      }),
    );
  });
});

describe("records that are compared", () => {
  const results = (...args: Parameters<typeof diffRecords>) =>
    Object.fromEntries(diffRecords(...args).map(({ field, result }) => [field, result]));

  test("each field is the same, changed, lost or new", () => {
    const before = [{ title: "A", price: 10, stock: "yes", tags: [], note: null }];
    const now = [{ title: "A", price: 12, stock: "", tags: ["x"], note: "" }];
    assert.deepEqual(results(before, now), {
      title: "same",
      price: "changed",
      stock: "lost",
      tags: "new",
      note: "same",
    });
  });

  test("one record less is one record lost, wherever it was", () => {
    const list = ["a", "b", "c", "d"].map((name) => ({ name }));
    for (const missing of [0, 1, 3]) {
      const [diff] = diffRecords(list, list.toSpliced(missing, 1));
      assert.deepEqual(diff?.counts, { lost: 1, changed: 0, new: 0, same: 3 });
      assert.equal(diff?.differences[0]?.before, list[missing]?.name);
    }
    const [more] = diffRecords(list.slice(1), list);
    assert.deepEqual(more?.counts, { lost: 0, changed: 0, new: 1, same: 3 });
  });

  test("equal records never differ, and a lost field is never called the same", () => {
    const records = fc.array(fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("x", 1, true)), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(records, records, (before, now) => {
        assert.ok(diffRecords(before, before).every(({ result }) => result === "same"));
        const isSame = diffRecords(before, now).every(({ result }) => result === "same");
        if (isSame)
          assert.deepEqual(
            before.filter((record) => Object.keys(record).length > 0),
            now.filter((record) => Object.keys(record).length > 0),
          );
      }),
    );
  });
});
