import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import {
  type CrawlFacts,
  END_REASONS,
  endOfCrawl,
  errorClassOf,
  NO_PAGES,
  type PageEnd,
  pageEndOf,
} from "../../src/domain/crawl/crawl-end.ts";
import { FAILURE_CODES, FAILURE_REASONS, type FailureReason } from "../../src/domain/run/failure.ts";
import { canRunMove } from "../../src/domain/run/states.ts";

type Given = Partial<Omit<CrawlFacts, "pages">> & { pages?: Partial<CrawlFacts["pages"]> };

function end(given: Given) {
  return endOfCrawl({
    unchanged: 0,
    followedOnly: 0,
    timeIsUp: false,
    breakerOpen: false,
    proxiesGone: false,
    pagesLeft: false,
    depthLeft: false,
    sitemapsUnread: 0,
    silent: [],
    example: null,
    partialResultsOk: true,
    errors: given.errors ?? { ...NO_PAGES.errors, general: given.pages?.failed ?? 0 },
    ...given,
    pages: { ...NO_PAGES.pages, ...given.pages },
  });
}

const TABLE: [Given, status: string, reason: string, errorClass: string | null, message: RegExp][] = [
  [{ pages: { succeeded: 3 } }, "completed", "exhausted", null, /^Crawl completed: 3 pages fetched$/],
  [{ pages: { succeeded: 3 }, unchanged: 2 }, "completed", "exhausted", null, /3 pages fetched \(2 unchanged\)$/],
  [{ pages: { succeeded: 1 } }, "completed", "exhausted", null, /1 page fetched$/],
  [{ pages: { succeeded: 5 }, pagesLeft: true }, "completed", "limit_pages", null, /stopped at the page limit/],
  [{ pages: { succeeded: 5 }, depthLeft: true }, "completed", "limit_depth", null, /stopped at the depth limit/],
  [
    { pages: { succeeded: 5 }, depthLeft: true, pagesLeft: true },
    "completed",
    "limit_pages",
    null,
    /stopped at the page limit/,
  ],
  [{ pages: { succeeded: 5, missing: 2, disallowed: 1 } }, "completed", "exhausted", null, /2 not found, 1 disallowed/],
  [{ pages: { succeeded: 5, missing: 1, file: 1 } }, "completed", "exhausted", null, /1 not found, 1 file skipped$/],
  [
    { pages: { succeeded: 5, file: 2 }, partialResultsOk: false },
    "completed",
    "exhausted",
    null,
    /fetched, 2 files skipped$/,
  ],
  [{ pages: { file: 1 } }, "failed", "exhausted", "general", /no page was fetched \(1 is a file\)/],
  [{ pages: { file: 3 } }, "failed", "exhausted", "general", /no page was fetched \(3 are files\)/],
  [{ pages: { succeeded: 5, missing: 2 }, partialResultsOk: false }, "completed", "exhausted", null, /2 not found/],
  [
    { pages: { succeeded: 5 }, sitemapsUnread: 1 },
    "completed",
    "exhausted",
    null,
    /fetched; 1 sitemap could not be read/,
  ],
  [{ sitemapsUnread: 2 }, "failed", "exhausted", "general", /no page was fetched .*; 2 sitemaps could not be read/],
  [
    { pages: { succeeded: 5, failed: 2 } },
    "partial",
    "exhausted",
    "general",
    /in part: 5 pages fetched; 2 pages failed/,
  ],
  [{ pages: { succeeded: 5, failed: 1 }, pagesLeft: true }, "partial", "limit_pages", "general", /1 page failed/],
  [{ pages: { succeeded: 5 }, timeIsUp: true }, "partial", "limit_time", "timeout", /time limit was reached/],
  [
    { pages: { succeeded: 5 }, timeIsUp: true, pagesLeft: true },
    "partial",
    "limit_time",
    "timeout",
    /time limit was reached/,
  ],
  [{ pages: { succeeded: 5 }, breakerOpen: true }, "partial", "breaker_open", "general", /keeps failing/],
  [{ pages: { succeeded: 5 }, proxiesGone: true }, "partial", "no_proxies", "connection", /no proxy was usable/],
  [
    { pages: { succeeded: 5, failed: 1 }, partialResultsOk: false },
    "failed",
    "exhausted",
    "general",
    /partial_results_ok is false/,
  ],
  [
    { pages: { succeeded: 5 }, timeIsUp: true, partialResultsOk: false },
    "failed",
    "limit_time",
    "timeout",
    /partial_results_ok is false/,
  ],
  [{ pages: { failed: 2 } }, "failed", "exhausted", "general", /no page was fetched \(2 pages failed\)/],
  [
    { pages: { failed: 1 }, example: "nobody listens there" },
    "failed",
    "exhausted",
    "general",
    /^Crawl failed: no page was fetched \(1 page failed\): nobody listens there$/,
  ],
  [{ pages: { missing: 1 } }, "failed", "exhausted", "general", /no page was fetched \(1 not found\)/],
  [{ pages: { disallowed: 1 } }, "failed", "exhausted", "general", /\(1 disallowed by robots\.txt\)/],
  [{ timeIsUp: true }, "failed", "limit_time", "timeout", /time limit was reached/],
  [{}, "failed", "exhausted", "general", /there was nothing to fetch/],
  [
    { pages: { failed: 3 }, errors: { timeout: 2, connection: 1, general: 0 } },
    "failed",
    "exhausted",
    "timeout",
    /3 pages/,
  ],
  [
    { pages: { failed: 3 }, errors: { timeout: 0, connection: 2, general: 1 } },
    "failed",
    "exhausted",
    "connection",
    /3/,
  ],
];
for (const [given, status, reason, errorClass, message] of TABLE) {
  test(`a crawl with ${JSON.stringify(given)} ends ${status}`, () => {
    const got = end(given);
    assert.deepEqual([got.status, got.end_reason, got.error_class], [status, reason, errorClass]);
    assert.match(got.message, message);
  });
}

test("what does not exist, may not be fetched or is a file is no failure of the crawl", () => {
  const ends = Object.keys(FAILURE_REASONS).map((reason) => [reason, pageEndOf({ reason: reason as FailureReason })]);
  assert.equal(pageEndOf(null), "succeeded");
  assert.deepEqual(
    ends.filter(([, is]) => is !== "failed"),
    [
      ["not_html", "file"],
      ["document_encrypted", "file"],
      ["document_damaged", "file"],
      ["document_unsupported", "file"],
      ["document_too_large", "file"],
      ["document_timeout", "file"],
      ["needs_ocr", "file"],
      ["http_not_found", "missing"],
      ["robots_disallowed", "disallowed"],
    ],
  );
});

test("timeouts and connections have classes of their own, everything else is general", () => {
  const own = { timeout: "timeout", network: "connection" } as Record<string, string>;
  for (const code of FAILURE_CODES) assert.equal(errorClassOf(code), own[code] ?? "general", code);
});

test("every end is one that a running run may come to, and hangs together", () => {
  const facts = fc.record({
    pages: fc.record({
      succeeded: fc.nat(3),
      missing: fc.nat(3),
      disallowed: fc.nat(3),
      file: fc.nat(3),
      failed: fc.nat(3),
    } satisfies Record<PageEnd, unknown>),
    timeIsUp: fc.boolean(),
    breakerOpen: fc.boolean(),
    proxiesGone: fc.boolean(),
    pagesLeft: fc.boolean(),
    depthLeft: fc.boolean(),
    sitemapsUnread: fc.nat(3),
    partialResultsOk: fc.boolean(),
  });
  fc.assert(
    fc.property(facts, (some) => {
      const got = end(some);
      assert.ok(canRunMove("running", got.status));
      assert.ok(END_REASONS.includes(got.end_reason));
      const whole = some.pages.failed === 0 && !some.timeIsUp && !some.breakerOpen && !some.proxiesGone;
      const expected =
        some.pages.succeeded === 0 ? "failed" : whole ? "completed" : some.partialResultsOk ? "partial" : "failed";
      assert.equal(got.status, expected);
      assert.equal(got.error_class === null, got.status === "completed");
      assert.ok(got.message.startsWith(got.status === "failed" ? "Crawl failed: " : "Crawl completed"));
    }),
    { numRuns: 1_000 },
  );
});
