import assert from "node:assert/strict";
import { test } from "node:test";
import {
  completeUrl,
  continueSeries,
  type LiveOverview,
  noFailuresWords,
  queueWords,
  runHref,
  runTitle,
  type Series,
  spokenGist,
  successFigure,
  stepsWords,
  successOf,
  timesOf,
  sitesTitle,
  verdictOf,
  workerWords,
} from "../../web/src/logic/overview.ts";

import { aheadOf } from "../../web/src/logic/server-time.ts";

const START = Date.parse("2026-05-05T12:00:00Z");

const calm: LiveOverview = {
  pages_per_second: { good: 5, bad: 1 },
  success_rate: 0.98,
  recent_pages: { good: 98, bad: 2 },
  in_flight: 3,
  queued: 40,
  retrying: 0,
  oldest_queued_at: null,
  runs: { queued: 0, running: 1, paused: 0, waiting_for_human: 0, recovering: 0 },
  active_runs: [],
  sites: { known: 1, active: 1, waiting: 0, paused: 0, blocked: 0 },
  troubled_sites: [],
  failures: [],
  workers: { working: 1, standby: 0, draining: 0, drained: 0, lost: 0, in_flight: 3, capacity: 32 },
  standstill: null,
  disk: [{ what: "database", free_bytes: 10, least_free_bytes: 1 }],
  memory: { used_bytes: 1, limit_bytes: null },
};

const series = (good: (number | null)[], more: Partial<Series> = {}): Series => ({
  step_seconds: 10,
  first_at: new Date(START).toISOString(),
  good,
  bad: good.map(() => 0),
  in_flight: good.map(() => 0),
  queued: good.map(() => 0),
  ...more,
});

test("the last hour goes on with what is told, and what was silent has not changed", () => {
  const first = continueSeries(series([1, 2]), calm, START + 25_000);
  assert.deepEqual(first.good, [1, 2, 5]);
  assert.deepEqual(first.queued, [0, 0, 40]);
  const again = continueSeries(first, { ...calm, queued: 39 }, START + 28_000);
  assert.deepEqual(again.queued, [0, 0, 39]);
  const later = continueSeries(again, calm, START + 61_000);
  assert.deepEqual(later.good, [1, 2, 5, 5, 5, 5, 5]);
  assert.deepEqual(timesOf(later).slice(-1), [START + 60_000]);
  const empty = continueSeries(series([], { first_at: null }), calm, START + 5000);
  assert.deepEqual([empty.good, empty.first_at], [[5], new Date(START).toISOString()]);
  assert.equal(continueSeries(later, calm, START - 60_000), later, "a clock that was set back changes nothing");
});

test("a clock of the browser that is wrong is noticed by the answers of the server, and one that may be right is not", () => {
  const date = "Tue, 05 May 2026 12:00:00 GMT";
  assert.deepEqual([aheadOf(date, START - 50, START + 20), aheadOf(date, START + 900, START + 990)], [0, 0]);
  // An answer that took long says little.
  assert.equal(aheadOf(date, START - 60_000, START + 5000), 0);
  assert.equal(aheadOf(date, START - 1_800_000, START - 1_799_000), 1_799_000);
  assert.equal(aheadOf(date, START + 1_801_000, START + 1_802_000), -1_800_000);
  assert.deepEqual([aheadOf(null, 0, 0), aheadOf("soon", 0, 0)], [null, null]);
});

test("the last hour is no longer than an hour", () => {
  const full = series(Array.from({ length: 360 }, (_, index) => index));
  const next = continueSeries(full, calm, START + 361 * 10_000);
  assert.equal(next.good.length, 360);
  assert.deepEqual([next.good[0], next.good.at(-1)], [2, 5]);
  assert.equal(timesOf(next).at(-1), START + 361 * 10_000);
});

test("success is that of a minute, and not known when nothing ended", () => {
  const one = series([null, 3, 0, 1], { bad: [null, 1, 0, 3] });
  assert.deepEqual(successOf(one), [null, 0.75, 0.75, 0.5]);
});

test("the verdict names the worst first", () => {
  const say = (change: Partial<LiveOverview>) => verdictOf({ ...calm, ...change });
  assert.deepEqual(say({}), { tone: "good", text: "Everything is working." });
  assert.equal(say({ in_flight: 0, queued: 0 }).text, "Idle: all runs have ended.");
  const standstill = { reason: "no_worker", message: "Nobody works." } as const;
  assert.deepEqual(say({ standstill, workers: { ...calm.workers, lost: 2 } }), { tone: "bad", text: "Nobody works." });
  assert.equal(say({ standstill, in_flight: 0, queued: 0 }).tone, "good");
  assert.equal(say({ workers: { ...calm.workers, lost: 2 } }).text, "2 workers stopped sending heartbeats.");
  const site = { site: "a", trouble: "paused", message: "", until: null, error_rate: null, waiting: 0 } as const;
  assert.deepEqual(say({ troubled_sites: [site] }), {
    tone: "good",
    text: "Everything is working. One site is paused.",
  });
  const failing = { ...site, trouble: "failing" } as const;
  assert.deepEqual(
    [[], [site], [failing], [site, failing]].map(sitesTitle),
    ["Sites in trouble", "Paused sites", "Sites in trouble", "Sites in trouble or paused"],
    "the list is called what the verdict says",
  );
  const { runs } = calm;
  assert.match(spokenGist({ runs, troubled_sites: [site] }), /active, 1 site paused\.$/);
  assert.match(spokenGist({ runs, troubled_sites: [site, failing] }), /, 1 site in trouble, 1 site paused\.$/);
  assert.equal(say({ troubled_sites: [{ ...site, trouble: "failing" }] }).text, "One site is in trouble.");
  assert.equal(say({ success_rate: 0.5 }).tone, "warn");
  assert.equal(say({ success_rate: 0.5, in_flight: 0, queued: 0 }).tone, "good", "what has ended shows its own number");
  assert.match(say({ disk: [{ what: "database", free_bytes: 1, least_free_bytes: 2 }] }).text, /nearly full/);
});

test("workers are counted by what they do: one that stands by does not work", () => {
  const say = (change: Partial<LiveOverview["workers"]>) => workerWords({ ...calm.workers, ...change });
  assert.equal(say({}), "1 working");
  assert.equal(
    say({ working: 2, standby: 1, draining: 1, drained: 1, lost: 1 }),
    "2 working, 1 standing by, 2 drained, 1 lost",
  );
  assert.deepEqual([say({ working: 0, standby: 1 }), say({ working: 0 })], ["1 standing by", "none working"]);
});

test("runs are called by their name or address, and found where their kind is shown", () => {
  const run = { id: "1", kind: "crawl", name: null, url: "https://www.example.com/" };
  assert.equal(runTitle(run), "example.com");
  assert.equal(runTitle({ ...run, name: "Prices" }), "Prices");
  assert.equal(runTitle({ ...run, url: null, kind: "queue" }), "Queue");
  assert.deepEqual([runHref(run), runHref({ ...run, kind: "workflow" })], ["/runs/1", "/workflows/1"]);
});

test("an address may be written without its beginning", () => {
  assert.equal(completeUrl(" example.com/a "), "https://example.com/a");
  assert.equal(completeUrl("http://127.0.0.1:8080/"), "http://127.0.0.1:8080/");
  for (const text of ["", "two words", "ftp://example.com", "javascript:alert(1)", "https://"])
    assert.equal(completeUrl(text), null, text);
});

test("a workflow says which of its steps runs or waits", () => {
  const step = (name: string, more: object = {}) => ({ name, status: "running" as const, waiting_for: null, ...more });
  assert.equal(stepsWords([], START), null);
  assert.equal(stepsWords([step("clean")], START), "Step clean runs");
  const child = step("crawl", {
    waiting_for: { for: "run", run_id: "1", run: null, message: "Crawling: 1 of 3 known pages", last_failure: null },
  });
  const later = step("rest", {
    waiting_for: {
      for: "time",
      until: new Date(START + 120_000).toISOString(),
      message: "Waiting, as requested by the step",
      last_failure: null,
    },
  });
  assert.equal(
    stepsWords([child, later, step("export", { status: "queued" })], START),
    "Steps: crawl – Crawling: 1 of 3 known pages, rest continues in 2 min, export is queued",
  );
  assert.equal(stepsWords([step("fetch", { status: "retrying" })], START), "Step fetch is retrying");
});

test("what waits is said in parts that break between each other", () => {
  const oldest = new Date(START - 240_000).toISOString();
  const words = (queued: number, retrying: number, oldest_queued_at: string | null = null) =>
    queueWords({ queued, retrying, oldest_queued_at }, START);
  assert.deepEqual(words(0, 0), ["empty"]);
  assert.deepEqual(words(1, 1), ["1 to retry"]);
  assert.deepEqual(words(1, 0, oldest), ["oldest 4 min ago"]);
  assert.deepEqual(words(13, 12, oldest), ["oldest 4 min ago", "12 to retry"]);
  assert.deepEqual(words(1, 0), ["paused or about to start"], "one that waits is never called nothing");
  assert.deepEqual(words(3, 1), ["paused or about to start", "1 to retry"]);
  assert.deepEqual(words(0, 0, oldest), ["empty"], "the oldest is looked for less often than the number");
});

test("of a few pages the numbers are said, without alarm; of many the part", () => {
  const figure = (good: number, bad: number) =>
    successFigure({
      ...calm,
      recent_pages: { good, bad },
      success_rate: good + bad === 0 ? null : good / (good + bad),
    });
  assert.deepEqual(figure(0, 0), { value: "–", note: "nothing finished recently" });
  assert.deepEqual(figure(0, 1), { value: "0 of 1", note: "page, last 5 min" });
  assert.deepEqual(figure(0, 2), { value: "0 of 2", note: "pages, last 5 min" });
  assert.deepEqual(figure(5, 15), { value: "25 %", note: "of pages, last 5 min", tone: "bad" });
  assert.deepEqual(figure(99, 1), { value: "99 %", note: "of pages, last 5 min" });
  assert.equal(verdictOf({ ...calm, success_rate: 0, recent_pages: { good: 0, bad: 2 } }).tone, "good");
});

test("no failures beside a site that fails are pages, and not requests", () => {
  const failing = {
    site: "a.example",
    trouble: "failing",
    message: "",
    until: null,
    error_rate: 0.89,
    waiting: 3,
  } as const;
  assert.equal(noFailuresWords([]), "Nothing failed within the last hour.");
  assert.match(noFailuresWords([failing]), /^No page failed permanently .* retried\.$/);
  assert.equal(verdictOf({ ...calm, troubled_sites: [failing] }).text, "One site is in trouble.");
});
