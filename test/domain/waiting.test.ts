import assert from "node:assert/strict";
import { test } from "node:test";
import { CLOSED_BREAKER } from "../../src/domain/lane/circuit.ts";
import { failure } from "../../src/domain/run/failure.ts";
import { lastFailure } from "../../src/domain/run/last-failure.ts";
import { NO_TASKS } from "../../src/domain/run/run-end.ts";
import {
  type SiteManners,
  stateForWork,
  WAIT_REASONS,
  waitingFor,
  type WaitReason,
  type WorkAtSite,
} from "../../src/domain/run/waiting.ts";
import { paceLimits, waitingSentence } from "../../src/domain/run/waiting-sentence.ts";

const NOW = 1_000_000;
const SITE: SiteManners = {
  paused: false,
  holdUntil: 0,
  breaker: CLOSED_BREAKER,
  maxConcurrency: null,
  minDelayMs: null,
  crawlDelayMs: null,
  requestsPerSecond: null,
};

function why(site: Partial<SiteManners> | null, work: Partial<WorkAtSite> = {}, delay = 0) {
  const all: WorkAtSite = {
    runStatus: "running",
    counts: { ...NO_TASKS, queued: 3 },
    nextTryAt: null,
    laneRunning: 0,
    idle: null,
    ...work,
  };
  const defaults = { maxPerSite: 10, minDelayMs: delay };
  const waiting = waitingFor(all, site === null ? null : { ...SITE, ...site }, defaults, NOW);
  return waiting === null ? null : waiting.until === null ? waiting.reason : `${waiting.reason} ${waiting.until - NOW}`;
}

const open = (ms: number) => ({ failures: 5, pages: [], openUntil: NOW + ms, failedProbes: 0 });

test("nothing holds a site that is free, nor one without work", () => {
  assert.equal(why({}), null);
  assert.equal(why(null), null);
  assert.equal(why({ paused: true }, { counts: NO_TASKS }), null);
  assert.equal(why({}, { counts: { ...NO_TASKS, running: 20 }, laneRunning: 20 }), null, "all of it is at work");
});

test("the run comes before the worker, and both before the site", () => {
  assert.equal(why({ paused: true }, { runStatus: "paused", idle: "no_worker" }), "run_paused");
  assert.equal(why({}, { runStatus: "queued", idle: "no_worker" }), "turn");
  assert.equal(why({}, { runStatus: "waiting_for_human" }), "person");
  const hold = { reason: "proxies", until: NOW + 9 } as const;
  assert.equal(why({}, { runStatus: "queued", hold, idle: "no_worker" }), "proxies 9");
  assert.equal(why({}, { runStatus: "paused", hold }), "run_paused");
  assert.equal(why({ paused: true }, { idle: "no_worker" }), "no_worker");
  assert.equal(why({}, { idle: "worker_paused", counts: { ...NO_TASKS, running: 2 } }), "worker_paused", "in hand");
});

test("the last pages of a crawl may be under way elsewhere", () => {
  assert.equal(why({}, { quotaExhausted: true }), "page_limit");
  assert.equal(why({ paused: true }, { quotaExhausted: true }), "site_paused");
  assert.equal(why({}, { quotaExhausted: true, counts: { ...NO_TASKS, queued: 3, running: 1 }, laneRunning: 1 }), null);
});

test("a page waits for no turn: its site says what it waits for", () => {
  assert.equal(why({ paused: true }, { runStatus: stateForWork({ kind: "page", status: "queued" }) }), "site_paused");
  assert.equal(why({ paused: true }, { runStatus: stateForWork({ kind: "crawl", status: "queued" }) }), "turn");
});

test("a site says what it waits for, and until when", () => {
  assert.equal(why({ paused: true, breaker: open(50) }), "site_paused");
  assert.equal(why({ breaker: open(50), holdUntil: NOW + 70 }), "circuit_open 50");
  assert.equal(why({ holdUntil: NOW + 70 }), "rate_limited 70");
  assert.equal(why({ holdUntil: NOW }), null);
  assert.equal(why({ breaker: open(0) }), null, "it may be probed");
  assert.equal(why({ breaker: open(0) }, { laneRunning: 1 }), "probing");
  assert.equal(why({ breaker: open(50) }, { counts: { ...NO_TASKS, running: 2 } }), "circuit_open 50", "in hand");
});

test("what is left may wait for its next try, a pause, a rate or its turn at the site", () => {
  const later = { counts: { ...NO_TASKS, retrying: 2 }, nextTryAt: NOW + 30 };
  assert.equal(why({}, later), "retry 30");
  assert.equal(why({}, { ...later, counts: { ...NO_TASKS, retrying: 2, queued: 1 } }), null);
  assert.equal(why({}, {}, 500), "min_delay");
  assert.equal(why({ minDelayMs: 0 }, {}, 500), null);
  assert.equal(why({ crawlDelayMs: 2000 }, {}, 500), "crawl_delay");
  assert.equal(why({ crawlDelayMs: 2000, minDelayMs: 3000 }, {}, 500), "min_delay");
  assert.equal(why({ requestsPerSecond: 2 }), "rate");
  assert.equal(why({}, { laneRunning: 10 }), "concurrency");
  assert.equal(why({ maxConcurrency: 2 }, { laneRunning: 1 }), null);
});

test("a run that is held says why before its sites do, and a site that depends on others after them", () => {
  const hold = { reason: "proxies", until: NOW + 300 } as const;
  assert.equal(why({ paused: true }, { hold, idle: "no_worker" }), "proxies 300");
  assert.equal(why({}, { hold: { reason: "previous_run", until: null } }), "previous_run");
  assert.equal(why({}, { hold, runStatus: "paused" }), "run_paused");
  assert.equal(why({}, { dependsOnOthers: true }), "depends_on");
  assert.equal(why({ paused: true }, { dependsOnOthers: true }), "site_paused");
});

test("the owner of a site knows best what it waits for, as long as that can still be true", () => {
  const rate = { reason: "rate", until: NOW + 400 } as const;
  assert.equal(why({ waiting: rate }, {}, 500), "rate 400");
  assert.equal(why({ waiting: { ...rate, until: NOW } }), null, "it has gone on since");
  assert.equal(why({ waiting: rate, paused: true }), "site_paused");
  assert.equal(why({ waiting: rate }, { counts: NO_TASKS }), null);
  const memory = { reason: "memory", until: null } as const;
  const allInHand = { counts: { ...NO_TASKS, running: 2 }, laneRunning: 2 };
  assert.equal(why({ waiting: memory }, allInHand), "memory");
  assert.equal(why({ waiting: memory }, { laneRunning: 0 }), null, "whoever said so is gone");
});

test("what sets the pace of a site is said with its numbers", () => {
  const limits = paceLimits(
    { ...SITE, requestsPerSecond: 0.5, crawlDelayMs: 1500 },
    { maxPerSite: 4, minDelayMs: 200 },
  );
  assert.deepEqual(limits, { delayMs: 1500, perSecond: 0.5, atOnce: 4 });
  const said = (reason: "min_delay" | "crawl_delay" | "rate" | "concurrency", more: Partial<typeof limits> = {}) =>
    waitingSentence({ reason, until: NOW }, { limits: { ...limits, ...more } });
  assert.equal(said("min_delay", { delayMs: 200 }), "Paced: 200 ms between requests");
  assert.equal(said("crawl_delay"), "Paced: 1.5 s between requests, as its robots.txt asks");
  assert.equal(said("rate"), "Paced: 0.5 requests per second at most");
  assert.equal(said("concurrency", { atOnce: 1 }), "At its limit of 1 concurrent request");
  assert.equal(waitingSentence({ reason: "min_delay", until: null }), "Paced: a pause between requests");
  const retry = { reason: "retry", until: Date.parse("2030-01-01T00:00:00Z") } as const;
  assert.equal(waitingSentence(retry), "Waiting for its next attempt at 2030-01-01 00:00:00 UTC");
  const last = lastFailure(
    failure("http_server_error", "the server answered 500 (server error)", { httpStatus: 500 }),
    {
      url: "https://a.example/x",
      attempt: 2,
      max_attempts: 4,
      next_try_at: "2030-01-01T00:00:00.000Z",
    },
  );
  assert.equal(
    waitingSentence(retry, { last }),
    "Retrying: the server answered 500 (server error). Attempt 2 of 4 at 2030-01-01 00:00:00 UTC",
  );
  const rests = { reason: "circuit_open", until: retry.until } as const;
  assert.match(
    waitingSentence(rests, { last }),
    /until 2030-01-01 00:00:00 UTC: the server answered 500 \(server error\)\. Attempt 2 of 4 is next$/,
  );
  assert.doesNotMatch(waitingSentence({ reason: "site_paused", until: null }, { last }), /500/);
  assert.match(waitingSentence({ reason: "concurrency_key", until: null, key: "crossref" }), /key crossref/);
  const ofCrawl = { reason: "concurrency_key", until: null, key: `crawl-${"0".repeat(36)}` } as const;
  assert.match(waitingSentence(ofCrawl), /^At the concurrency limit of its crawl/);
});

test("every reason comes about", () => {
  const site = { key: "crossref", begun: 0 };
  const cases: Record<WaitReason, ReturnType<typeof why>> = {
    run_paused: why({}, { runStatus: "paused" }),
    turn: why({}, { runStatus: "queued" }),
    person: why({}, { runStatus: "waiting_for_human" }),
    previous_run: why({}, { hold: { reason: "previous_run", until: null } }),
    proxies: why({}, { hold: { reason: "proxies", until: null } }),
    data_quality: why({}, { hold: { reason: "data_quality", until: null } }),
    no_worker: why({}, { idle: "no_worker" }),
    workers_drained: why({}, { idle: "workers_drained" }),
    worker_paused: why({}, { idle: "worker_paused" }),
    worker_lost: why({}, { lost: { machine: "north", pid: 17, until: NOW + 70 } }),
    site_paused: why({ paused: true }),
    circuit_open: why({ breaker: open(50) }),
    rate_limited: why({ holdUntil: NOW + 70 }),
    probing: why({ breaker: open(0) }, { laneRunning: 1 }),
    depends_on: why({}, { dependsOnOthers: true }),
    page_limit: why({}, { quotaExhausted: true }),
    retry: why({}, { counts: { ...NO_TASKS, retrying: 2 }, nextTryAt: null }),
    memory: why({ waiting: { reason: "memory", until: null } }, { laneRunning: 2 }),
    concurrency_key: why(
      { waiting: { reason: "concurrency_key", until: null, ...site } },
      { counts: { ...NO_TASKS, running: 20 }, laneRunning: 20 },
    ),
    crawl_delay: why({ crawlDelayMs: 2000 }),
    min_delay: why({}, {}, 500),
    rate: why({ requestsPerSecond: 2 }),
    concurrency: why({}, { laneRunning: 10 }),
  };
  for (const [reason, came] of Object.entries(cases)) assert.equal(came?.split(" ")[0], reason);
  assert.deepEqual(Object.keys(cases).toSorted(), [...WAIT_REASONS].toSorted());
});
