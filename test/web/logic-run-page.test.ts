import assert from "node:assert/strict";
import { test } from "node:test";
import { configurationOf } from "../../web/src/pages/runs/logic/run-configuration.ts";
import { type EventList, noEvents, type RunEvent, shownEvents, withEvents } from "../../web/src/logic/run-events.ts";
import {
  actionsOf,
  atWorkWords,
  belowTitle,
  messageBeside,
  outcomeBesideCounts,
  outcomeList,
  outcomeWords,
  splitSite,
  progressWords,
  shownProgress,
  titleOf,
  waitingSites,
} from "../../web/src/logic/run-page.ts";
import { keptWords } from "../../web/src/pages/runs/logic/kept.ts";
import { progressOf } from "../../web/src/pages/runs/logic/run-progress.ts";
import { type FirstTab, firstTab } from "../../web/src/pages/runs/logic/run-first-tab.ts";

test("only what a run's state allows is offered", () => {
  const offered = (status: string, kind = "crawl") =>
    Object.entries(actionsOf({ status, kind }))
      .filter(([, can]) => can)
      .map(([name]) => name);
  assert.deepEqual(offered("running"), ["cancel", "pause", "retryFailed", "clone"]);
  assert.deepEqual(offered("paused"), ["cancel", "resume", "clone"]);
  assert.deepEqual(offered("waiting_for_human", "page"), ["cancel", "clone"]);
  assert.deepEqual(offered("cancelled"), ["clone", "remove"]);
  assert.deepEqual(offered("partial"), ["retryFailed", "clone", "remove"]);
  assert.equal(actionsOf({ status: "completed", kind: "page", parent: {} }).remove, false, "it goes with its workflow");
  assert.deepEqual(offered("completed", "queue"), []);
  const ofJob = (status: string) => actionsOf({ status, kind: "crawl", job_id: "j" }).rerun;
  assert.deepEqual([ofJob("completed"), ofJob("failed"), ofJob("running")], [true, true, false]);
});

test("how far a run is, in as few words as are known", () => {
  const counts = { queued: 5, running: 2, retrying: 0, completed: 12, failed: 1, skipped: 0 };
  const words = (more: object) =>
    progressWords({ counts, progress: 65, perSecond: 2.5, etaSeconds: 40, active: true, ...more });
  assert.equal(words({}), "13 of 20 known pages · 2.5/s · 40 s left");
  assert.equal(words({ perSecond: 0, etaSeconds: null }), "13 of 20 known pages");
  assert.match(words({ etaMostSeconds: 40 }), / · 40 s left$/, "both ends are the same");
  assert.match(words({ etaMostSeconds: 55 }), / · 40–55 s left$/);
  assert.match(words({ etaMostSeconds: 170 }), / · 40 s–3 min left$/);
  assert.match(words({ etaSeconds: 2, etaMostSeconds: 170 }), / · up to 3 min left$/);
  assert.equal(words({ active: false, counts: { ...counts, queued: 0, running: 0 } }), "13 pages");
  assert.equal(words({ active: false, counts: null }), "");
  // Of a crawl that has seen little yet the bar is about what it may fetch; it never falls when more becomes known.
  assert.equal(
    words({ progress: 15, etaSeconds: null, perSecond: null }),
    "13 pages done, 20 known so far, more expected",
  );
  assert.equal(words({ progress: 80, etaSeconds: null, perSecond: null }), "13 pages done, 20 known so far");
  // What is not a crawl knows from the start what it has to do, and counts something else than pages.
  const steps = { queued: 3, running: 0, retrying: 0, completed: 2, failed: 0, skipped: 0 };
  const flow = (more: object) => words({ counts: steps, kind: "workflow", perSecond: null, etaSeconds: 120, ...more });
  assert.equal(flow({ progress: 40 }), "2 of 5 steps · 2 min left");
  assert.equal(flow({ progress: 12 }), "2 of 5 steps · 2 min left", "its steps are weighted");
  assert.equal(flow({ active: false, counts: { ...steps, queued: 0 } }), "2 steps");
  assert.equal(flow({ kind: "queue", etaSeconds: null }), "2 of 5 items");
  assert.equal(flow({ kind: "download", etaSeconds: null }), "2 of 5 files");
  assert.equal(flow({ kind: "proxy_refresh", etaSeconds: null }), "2 of 5 parts");
  assert.deepEqual(["Run completed", "Run started", null].map(outcomeWords), ["", "", ""]);
  assert.deepEqual(
    [
      "Run completed: 151 pages fetched",
      "Run completed in part: 3 pages fetched (1 unchanged); 1 page failed",
      "Run completed: 9 pages fetched, 2 not found; stopped at the page limit",
      "Run failed: nothing was got",
      "Run completed: 9 pages fetched, 2 not found; since the previous run 1 new, 2 changed, 0 gone",
      "Run completed in part: 93 pages fetched, 1 not found, 1 disallowed by robots.txt; 3 pages failed",
    ].map(outcomeBesideCounts),
    [
      "",
      "",
      "2 not found; stopped at the page limit",
      "nothing was got",
      "2 not found",
      "1 not found, 1 disallowed by robots.txt, 3 other failures",
    ],
  );
  assert.equal(
    outcomeList("Run completed in part: 16 pages fetched, 1 not found; 2 pages failed"),
    "16 pages fetched, 1 not found, 2 failed",
  );
  assert.equal(
    outcomeBesideCounts("Run completed in part: 9 pages fetched, 1 not found; 1 page failed"),
    "1 not found, 1 other failure",
  );
  assert.equal(outcomeBesideCounts("Run completed: 17 pages fetched (11 unchanged, 4 followed without a record)"), "");
  assert.equal(atWorkWords(60_000, 58), null);
  assert.equal(atWorkWords(60_000, 50, 20_000), null, "asked for a while ago");
  assert.equal(atWorkWords(288_000, 25, 20_000), "active for 25 s of it");
  assert.equal(atWorkWords(7_200_000, 600), "active for 10m of it");
  assert.equal(outcomeWords("Run completed in part: 8 pages fetched"), "8 pages fetched");
  assert.equal(outcomeWords("Something else"), "Something else");
  assert.equal(titleOf({ name: " ", url: "https://www.a.example/", kind: "page" }), "a.example");
  assert.equal(titleOf({ name: null, url: null, kind: "queue" }), "Queue");
});

test("events come once, and are found by level, by their words and by what they say beside", () => {
  const TYPES = { info: "run.created", warn: "task.retry_scheduled", error: "run.failed" } as const;
  const event = (id: string, level: RunEvent["level"], message: string, meta = {}): RunEvent => ({
    id,
    run_id: "r",
    type: TYPES[level],
    level,
    message,
    meta,
    created_at: "2026-05-04T10:00:00Z",
  });
  const idsOf = ({ list }: EventList) => list.map(({ id }) => id);
  const first = withEvents(noEvents(), [
    event("1", "info", "Run created"),
    event("2", "warn", "Retry scheduled", { url: "https://x/Deep" }),
  ]);
  const all = withEvents(first, [event("2", "warn", "Retry scheduled"), event("3", "error", "Run failed")]);
  assert.deepEqual(
    [idsOf(first), idsOf(all)],
    [
      ["1", "2"],
      ["1", "2", "3"],
    ],
  );
  assert.equal(withEvents(all, [event("3", "error", "Run failed")]), all);
  const shown = (level: "all" | "warn" | "error", text = "") =>
    shownEvents(all.list, { level, text }).map(({ id }) => id);
  assert.deepEqual([shown("all"), shown("warn"), shown("error")], [["1", "2", "3"], ["2", "3"], ["3"]]);
  assert.deepEqual([shown("all", " RUN "), shown("all", "deep"), shown("all", "task.")], [["1", "3"], ["2"], ["2"]]);
  // Of very many the newest are kept, and how many there were is known.
  const more = withEvents(all, [event("4", "info", "a"), event("5", "info", "b"), event("4", "info", "a")], 3);
  assert.deepEqual([idsOf(more), more.ids.size, more.total], [["3", "4", "5"], 3, 5]);
});

test("how far a run is comes from what is newer, and at its end from the answer alone", () => {
  const counts = { queued: 1, running: 1, retrying: 0, completed: 11, failed: 0, skipped: 0 };
  const told = (status: "running" | "completed", at: number) => ({
    at,
    run: { status, counts, per_second: 4, eta_seconds: 9 },
  });
  const asked = (completed_items: number, at: number) => ({
    at,
    crawl: {
      queued_items: 3,
      retrying_items: 1,
      running_items: 0,
      completed_items,
      failed_items: 2,
      skipped_items: 0,
      pages_per_second: 2,
    },
  });
  const progress = (...[status, live, crawl]: Parameters<typeof progressOf>) => {
    const { counts: known, perSecond, etaSeconds } = progressOf(status, live, crawl);
    return [known?.completed, perSecond, etaSeconds];
  };
  assert.deepEqual(progress("running", told("running", 2000), asked(10, 1000)), [11, 4, 9]);
  // The answer knows more pages; how fast it goes the stream said a moment ago.
  assert.deepEqual(progress("running", told("running", 1000), asked(12, 2000)), [12, 4, 9]);
  // Of a run that is not among the newest the stream says nothing any more.
  assert.deepEqual(progress("running", told("running", 1000), asked(20, 60_000)), [20, 2, null]);
  // It ended unheard: what was told before is of no worth, however new it is.
  assert.deepEqual(progress("completed", told("running", 9000), asked(25, 8000)), [25, 2, null]);
  assert.deepEqual(progress("completed", told("running", 9000), null), [undefined, null, null]);
  assert.deepEqual(progress("completed", told("completed", 9000), null), [11, 4, 9]);
  // It was begun anew after it had ended.
  assert.deepEqual(progress("running", told("completed", 9000), asked(25, 8000)), [25, 2, null]);
  assert.deepEqual(progressOf("running", null, asked(5, 0)).counts, {
    queued: 2,
    running: 0,
    retrying: 1,
    completed: 5,
    failed: 2,
    skipped: 0,
  });
});

test("what a run waits for names its site once", () => {
  const message = "a.example: Site paused: resume it to continue";
  assert.equal(messageBeside("a.example/start", message), "Site paused: resume it to continue");
  assert.equal(messageBeside("Prices", message), message);
});

test("what a run was asked for is read by name, without what nobody has set", () => {
  const { plain, rules } = configurationOf({
    kind: "crawl",
    name: null,
    tags: [],
    crawl: {
      url: ["https://a.example/", "https://b.example/"],
      max_pages: 50,
      same_site: true,
      fields: { a: { css: "b" } },
    },
  });
  assert.deepEqual(
    plain.map(({ name, value }) => `${name}: ${value}`),
    ["Kind: Crawl", "URL: https://a.example/, https://b.example/", "Maximum pages: 50", "Stay on the site: Yes"],
  );
  assert.deepEqual(rules, [{ name: "Fields", key: "fields", value: JSON.stringify({ a: { css: "b" } }, null, 2) }]);
});

test("where a run waits, and what sets its pace, is told by its sites", () => {
  const at = (site: string, reason: string | null) => ({
    site,
    waiting_for: reason === null ? null : { reason, until: null, message: `It waits: ${reason}` },
  });
  const names = (...sites: ReturnType<typeof at>[]) => {
    const { held, paced } = waitingSites(sites);
    return [held.map(({ site }) => site), paced?.site ?? null];
  };
  assert.deepEqual(names(at("a.example", null), at("b.example", "circuit_open")), [["b.example"], null]);
  assert.deepEqual(names(at("a.example", "min_delay")), [[], "a.example"]);
  assert.deepEqual(names(at("a.example", "min_delay"), at("b.example", null)), [[], null]);
  assert.deepEqual(names(at("a.example", "run_paused")), [[], null]);
  assert.deepEqual(splitSite("a.example:8080: It is paused"), { site: "a.example:8080", message: "It is paused" });
  assert.deepEqual(splitSite("No worker runs: start one").site, null);
});

const NONE = { queued: 0, running: 0, retrying: 0, completed: 0, failed: 0, skipped: 0 };

test("a run opens with what people come for", () => {
  const shown = (kind: string, status: string, counts: Partial<typeof NONE> | null = null) =>
    firstTab({ id: "1", kind, status }, counts === null ? null : { ...NONE, ...counts }, null).tab;
  assert.deepEqual(
    ["queued", "running", "paused"].map((status) => shown("crawl", status)),
    ["pages", "pages", "pages"],
  );
  assert.deepEqual(
    [shown("crawl", "completed"), shown("crawl", "partial", { completed: 1, failed: 9 })],
    ["results", "results"],
  );
  assert.deepEqual(
    [{ completed: 1, failed: 1 }, { failed: 1 }, {}].map((counts) => shown("crawl", "failed", counts)),
    ["results", "errors", "events"],
  );
  assert.deepEqual(
    [shown("crawl", "cancelled", { completed: 2 }), shown("crawl", "cancelled", {})],
    ["results", "events"],
  );
  assert.deepEqual(
    ["running", "waiting_for_human", "completed", "failed", "cancelled"].map((status) => shown("page", status)),
    ["results", "results", "results", "errors", "events"],
  );
  assert.equal(shown("queue", "running"), "events");
});

test("whoever looks at a run is not taken elsewhere when it ends, unless there was nothing to read", () => {
  const after = (kind: string, first: string, then: string, counts = NONE): FirstTab[] => {
    const one = firstTab({ id: "1", kind, status: first }, null, null);
    return [one, firstTab({ id: "1", kind, status: then }, counts, one)];
  };
  const [watched, ended] = after("crawl", "running", "completed");
  assert.equal(ended, watched, "the very same");
  assert.deepEqual(
    after("page", "running", "failed").map(({ tab }) => tab),
    ["results", "errors"],
  );
  assert.deepEqual(
    after("page", "running", "completed").map(({ tab }) => tab),
    ["results", "results"],
  );
  // What came of it is known a moment after it.
  const got = { ...NONE, completed: 3, failed: 1 };
  assert.deepEqual(
    after("crawl", "failed", "failed", got).map(({ tab }) => tab),
    ["errors", "results"],
  );
  assert.equal(
    firstTab({ id: "2", kind: "crawl", status: "completed" }, null, watched ?? null).tab,
    "results",
    "another run",
  );
});

test("a run that was cancelled stays where it was, and says how many of its pages were done", () => {
  const counts = { queued: 0, running: 0, retrying: 0, completed: 3, failed: 1, skipped: 0 };
  assert.equal(shownProgress({ status: "cancelled", progress: 100 }, counts, 36), 10);
  assert.equal(
    progressWords({ counts, progress: 10, perSecond: null, etaSeconds: null, active: false, leftOut: 36 }),
    "4 of 40 known pages",
  );
  assert.equal(shownProgress({ status: "cancelled", progress: 100 }, counts, 0), 100, "all of them were done");
  assert.equal(shownProgress({ status: "cancelled", progress: 100 }, null, 0), null, "how far it was is not known");
  assert.equal(shownProgress({ status: "partial", progress: 100 }, counts, 6), 40, "its time was up");
  assert.equal(shownProgress({ status: "partial", progress: 100 }, counts, 0), 100);
  assert.equal(shownProgress({ status: "running", progress: 42 }, counts, 0), 42);
});

test("how long a run is kept is said when it has ended, and whether it can be kept", () => {
  const run = { finished_at: "2030-01-01T00:00:00.000Z", expires_at: null, kept: false, keep_runs: null };
  assert.equal(keptWords({ ...run, finished_at: null }), null);
  assert.deepEqual(keptWords(run), { text: "Kept until you delete it", until: null, expires: false });
  const until = "2030-01-02T00:00:00.000Z";
  assert.deepEqual(keptWords({ ...run, expires_at: until }), { text: "Kept until", until, expires: true });
  const newest = (keep_runs: number) => keptWords({ ...run, keep_runs })?.text;
  assert.equal(newest(1000), "Kept while it is one of the newest 1,000 runs of its job");
  assert.equal(newest(1), "Kept while it is the newest run of its job");
  assert.equal(keptWords({ ...run, kept: true, keep_runs: 5 })?.expires, false);
});

test("a crawl with several starts is not called by the first alone", () => {
  const crawl = { name: null, url: "https://a.example/", kind: "crawl" };
  assert.deepEqual(
    [titleOf(crawl), titleOf({ ...crawl, url_count: 1 }), titleOf({ ...crawl, url_count: 3 })],
    ["a.example", "a.example", "a.example and 2 more"],
  );
  const named = { ...crawl, id: "0123456789", site: "a.example", name: "News", url_count: 3 };
  assert.equal(belowTitle(named), "a.example and 2 more");
});
