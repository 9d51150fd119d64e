import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { changeSite, listSites, resetSite, showSite } from "../../src/orchestrator/sites/sites.ts";
import { sitesProgress, SitesWatch } from "../../src/orchestrator/sites/sites-progress.ts";
import { candidate, DONE, newTask, retryAt, TTL } from "../contract/store/kit.ts";
import { openOrchestrator as openPlainDesk } from "./kit.ts";

const openOrchestrator = async (t: TestContext) => ({
  ...(await openPlainDesk(t)),
  siteDefaults: { maxPerSite: 10, minDelayMs: 0 },
  respectRobots: true,
});

const code = (expected: string) => (error: unknown) => isOrbError(error) && error.code === expected;

test("limits are set before a site is seen, shown, and taken back", async (t) => {
  const orchestrator = await openOrchestrator(t);
  assert.deepEqual(await listSites(orchestrator, { limit: 10 }), []);
  const set = await changeSite(orchestrator, "Example.COM:80", { maxConcurrency: 2, minDelayMs: 500 });
  assert.deepEqual([set.site, set.max_concurrency, set.min_delay_ms], ["example.com", 2, 500]);
  assert.deepEqual(orchestrator.woken, [null], "owners hear of it");
  assert.deepEqual(await showSite(orchestrator, "example.com"), set);
  const back = await changeSite(orchestrator, "example.com", { maxConcurrency: null });
  assert.deepEqual([back.max_concurrency, back.min_delay_ms], [null, 500]);
});

test("a pause shows and ends", async (t) => {
  const orchestrator = await openOrchestrator(t);
  assert.equal((await changeSite(orchestrator, "a.test:8080", { paused: true })).paused, true);
  assert.equal((await changeSite(orchestrator, "a.test:8080", { paused: false })).paused, false);
  assert.deepEqual(
    (await listSites(orchestrator, { limit: 10 })).map((site) => site.site),
    ["a.test:8080"],
  );
});

test("what is not a site, and one that nobody knows, are refused", async (t) => {
  const orchestrator = await openOrchestrator(t);
  for (const name of ["http://a.test/", "a.test/path", "user@a.test", "a b", ""])
    await assert.rejects(changeSite(orchestrator, name, { paused: true }), code("input_invalid"), name);
  await assert.rejects(showSite(orchestrator, "nobody.test"), code("not_found"));
  await assert.rejects(resetSite(orchestrator, "nobody.test"), code("not_found"));
});

type SiteDeps = Awaited<ReturnType<typeof openOrchestrator>>;

/** A run with a page at each of these sites. */
async function work(orchestrator: SiteDeps, ...sites: string[]) {
  const run = await orchestrator.store.openRun(
    { kind: "queue", maxAttempts: 3, snapshot: {} },
    orchestrator.clock.now(),
  );
  const tasks = sites.map((site) => newTask(`${run.id}-${site}`, { lane: `site:${site}` }));
  await orchestrator.store.enqueue(run.id, tasks, orchestrator.clock.now());
  return run;
}

const engine = (orchestrator: SiteDeps) => orchestrator.store.takeEngine(candidate("worker"), TTL);

test("a site says in a sentence why its work waits, whatever that is", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const why = async (site: string) => {
    const { waiting_for: waiting, state } = await showSite(orchestrator, site);
    return [state, waiting?.reason, waiting?.message];
  };
  const run = await work(orchestrator, "a.test", "b.test", "c.test");
  assert.deepEqual(await why("a.test"), [
    "waiting",
    "no_worker",
    "No worker is running: work waits until orb serve or orb worker is started",
  ]);
  await engine(orchestrator);
  assert.deepEqual(await why("a.test"), ["waiting", undefined, undefined], "somebody will take it");
  await changeSite(orchestrator, "a.test", { dependsOn: ["B.test", "c.test"] });
  assert.deepEqual(await why("a.test"), ["waiting", "depends_on", "Waiting for sites it depends on: b.test, c.test"]);
  await changeSite(orchestrator, "a.test", { paused: true });
  assert.deepEqual(await why("a.test"), ["paused", "site_paused", "Site paused: resume it to continue"]);
  await orchestrator.store.changeRun(run.id, "running", "Run started", orchestrator.clock.now());
  await orchestrator.store.changeRun(run.id, "paused", "Run paused", orchestrator.clock.now());
  assert.deepEqual(await why("b.test"), ["waiting", "run_paused", "Its runs are paused"]);
  const held = await work(orchestrator, "d.test");
  const message = "Waiting for proxies: none is usable";
  const until = orchestrator.clock.now() + 5000;
  await orchestrator.store.holdRun(
    held.id,
    { reason: "proxies", since: orchestrator.clock.now(), until, message },
    orchestrator.clock.now(),
  );
  assert.deepEqual(await why("d.test"), ["waiting", "proxies", message]);
  await work(orchestrator, "e.test");
  await orchestrator.work("site:e.test", () => retryAt(orchestrator.clock.now() + 60_000));
  assert.deepEqual((await why("e.test")).slice(0, 2), ["waiting", "retry"]);
});

test("a site shows what holds for it, with the defaults and what the site itself asks for", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const set = await changeSite(orchestrator, "a.test", {
    requestsPerSecond: 2,
    burst: 4,
    respectRobots: false,
    shards: 4,
  });
  assert.deepEqual(set.effective, {
    max_concurrency: 10,
    requests_per_second: 2,
    burst: 4,
    min_delay_ms: 0,
    shards: 4,
    strategy: "auto",
    respect_robots: false,
  });
  assert.deepEqual([set.state, set.shards, set.next_fetch_at, set.first_seen_at], ["idle", 4, null, null]);
  await work(orchestrator, "a.test");
  await engine(orchestrator);
  const lane = (await orchestrator.store.takeLane("site:a.test", "worker", TTL))!;
  const openUntil = orchestrator.clock.now() + 90_000;
  const politeness = { holdUntil: 0, holdStep: 0, breaker: { failures: 6, pages: [], openUntil, failedProbes: 0 } };
  await orchestrator.store.settle(
    [{ hold: lane, tasks: [], site: { site: "a.test", politeness } }],
    orchestrator.clock.now(),
  );
  const blocked = await showSite(orchestrator, "a.test");
  assert.deepEqual(
    [blocked.state, blocked.waiting_for?.reason, blocked.next_fetch_at],
    ["blocked", "circuit_open", new Date(openUntil).toISOString()],
  );
});

test("what an owner has in hand and has not begun waits, and the site says for what", async (t) => {
  const orchestrator = await openOrchestrator(t);
  await engine(orchestrator);
  await changeSite(orchestrator, "a.test", { maxConcurrency: 1, minDelayMs: 5000 });
  for (let n = 0; n < 3; n += 1) await work(orchestrator, "a.test");
  const lane = (await orchestrator.store.takeLane("site:a.test", "worker", TTL))!;
  await orchestrator.store.claim(lane, { limit: 10 }, orchestrator.clock.now());
  const view = await showSite(orchestrator, "a.test");
  assert.deepEqual([view.counts.running, view.counts.queued, view.waiting_for?.reason], [1, 2, "min_delay"]);
});

test("all sites together are summed up, and followed as they change", async (t) => {
  const orchestrator = await openOrchestrator(t);
  await engine(orchestrator);
  await work(orchestrator, "a.test", "b.test");
  await work(orchestrator, "a.test", "c.test");
  await orchestrator.work("site:b.test", () => DONE);
  await changeSite(orchestrator, "c.test", { paused: true });
  const { totals, sites } = await sitesProgress(orchestrator);
  assert.deepEqual(totals, {
    queued: 3,
    running: 0,
    retrying: 0,
    completed: 1,
    failed: 0,
    sites: 3,
    active_sites: 0,
    waiting_sites: 1,
    paused_sites: 1,
    blocked_sites: 0,
    pages_per_second: 0,
    error_rate: null,
  });
  assert.deepEqual(
    sites.map(({ site, state, counts }) => [site, state, counts.queued]),
    [
      ["a.test", "waiting", 2],
      ["c.test", "paused", 1],
    ],
  );
  const stop = new AbortController();
  const seen: number[] = [];
  const following = (async () => {
    for await (const change of new SitesWatch(orchestrator).follow(stop.signal)) seen.push(change.totals.queued);
  })();
  await orchestrator.clock.until(() => seen.length === 1);
  await orchestrator.clock.advance(5000);
  assert.deepEqual(seen, [3], "nothing has changed");
  await work(orchestrator, "d.test");
  await work(orchestrator, "e.test");
  await orchestrator.clock.advance(1000);
  assert.deepEqual(seen, [3, 5], "once for all that changed within a second");
  stop.abort();
  await following;
});

test("however many watch all sites, they are looked at once a second, and not at all for nobody", async (t) => {
  const orchestrator = await openOrchestrator(t);
  await work(orchestrator, "a.test");
  let looks = 0;
  const siteTotals = (now: number) => {
    looks += 1;
    return orchestrator.store.siteTotals(now);
  };
  const watch = new SitesWatch({ ...orchestrator, store: { ...orchestrator.store, siteTotals } });
  const stop = new AbortController();
  const seen = Array.from({ length: 40 }, () => [] as number[]);
  const follow = async (into: number[]) => {
    for await (const { totals } of watch.follow(stop.signal)) into.push(totals.queued);
  };
  const early = seen.slice(0, 20).map(follow);
  await orchestrator.clock.advance(300);
  // Who comes in between sees what the others have seen.
  const late = seen.slice(20).map(follow);
  await orchestrator.clock.advance(2_900);
  assert.equal(looks, 4);
  await work(orchestrator, "b.test");
  await orchestrator.clock.advance(1_000);
  assert.equal(looks, 5);
  for (const one of seen) assert.deepEqual(one, [1, 2]);
  stop.abort();
  await Promise.all([...early, ...late]);
  await orchestrator.clock.advance(5_000);
  assert.equal(looks, 5);
});
