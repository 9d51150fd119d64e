import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { OrbError } from "../../src/base/errors.ts";
import { resolverKey } from "../../src/domain/lane.ts";
import type { Store } from "../../src/store/port.ts";
import { GOOD, pages, status, Workshop } from "./workshop.ts";

test("everything that is submitted is done, once each, and the books are right", async (t) => {
  const shop = await Workshop.open(t);
  const run = await shop.run([...pages("a.test", 100), ...pages("b.test", 100)]);
  await shop.finish();
  assert.equal((await shop.store.run(run.id))?.status, "completed");
  assert.equal(new Set(shop.keys()).size, 200);
  assert.equal(shop.starts.length, 200);
  assert.deepEqual((await shop.store.audit()).findings, []);
});

test("a site never has more in flight than its limit, the process never more than its slots", async (t) => {
  const shop = await Workshop.open(t, { rules: { maxPerSite: 3 }, maxWorkers: 5, latencyMs: 40 });
  await shop.run(["a.test", "b.test", "c.test"].flatMap((site) => pages(site, 30)));
  let most = 0;
  while (shop.starts.length < 90) {
    await shop.clock.advance(1);
    most = Math.max(
      most,
      [...shop.inFlight.values()].reduce((sum, n) => sum + n, 0),
    );
  }
  await shop.finish();
  assert.equal(Math.max(...shop.most.values()), 3);
  assert.equal(most, 5);
});

test("two runs on one site share it evenly, however large the first is", async (t) => {
  const shop = await Workshop.open(t, { rules: { maxPerSite: 2 }, latencyMs: 20 });
  await shop.run(pages("a.test", 400, {}, "big-"));
  await shop.run(pages("a.test", 20, {}, "small-"));
  await shop.clock.until(() => shop.keys().filter((key) => key.startsWith("small-")).length === 20);
  const before = shop.keys().filter((key) => key.startsWith("big-")).length;
  assert.ok(before < 60, `the small run waited for ${before} pages of the big one`);
});

test("two runs started together take turns", async (t) => {
  const shop = await Workshop.open(t, { rules: { maxPerSite: 1 }, latencyMs: 20 });
  await shop.store.setSite("a.test", { paused: true });
  await shop.run(pages("a.test", 40, {}, "x-"));
  await shop.run(pages("a.test", 40, {}, "y-"));
  await shop.store.setSite("a.test", { paused: false });
  shop.engine.controlChanged();
  await shop.finish();
  const firsts = shop.keys().slice(0, 40);
  const share = firsts.filter((key) => key.startsWith("x-")).length;
  assert.ok(share >= 16 && share <= 24, `x had ${share} of the first 40`);
});

test("a page that is handed back is begun again at once, not when somebody happens to look", async (t) => {
  const shop = await Workshop.open(t, {
    answer: (_, times) => (times <= 2 ? { kind: "handed_back", why: "the browser died" } : null),
  });
  const run = await shop.run(pages("a.test", 1));
  await shop.clock.until(() => shop.starts.length === 3, 1000);
  await shop.finish();
  const [task] = await shop.store.tasks(run.id, { limit: 1 });
  assert.deepEqual([task?.state, task?.attempts.length], ["completed", 1]);
});

test("within a run the higher priority goes first", async (t) => {
  const shop = await Workshop.open(t, { rules: { maxPerSite: 1 } });
  await shop.store.setSite("a.test", { paused: true });
  await shop.run([
    ...pages("a.test", 3, { priority: -5 }, "low-"),
    ...pages("a.test", 3, { priority: 0 }, "mid-"),
    ...pages("a.test", 3, { priority: 5 }, "high-"),
  ]);
  await shop.store.setSite("a.test", { paused: false });
  shop.engine.controlChanged();
  await shop.finish();
  assert.deepEqual(
    shop.keys().map((key) => key.split("-")[0]),
    ["high", "high", "high", "mid", "mid", "mid", "low", "low", "low"],
  );
});

test("a resolver's limit holds over all sites, and does not starve what needs no resolver", async (t) => {
  const shop = await Workshop.open(t, {
    rules: { maxPerSite: 4, maxPerResolver: { slow: 1 } },
    latencyMs: (task) => (task.resolver === "slow" ? 1000 : 10),
  });
  await shop.run([
    ...pages("a.test", 30, { resolver: "slow" }, "slow-"),
    ...pages("b.test", 30, { resolver: "slow" }, "slow-"),
    ...pages("a.test", 60, {}, "quick-"),
  ]);
  await shop.clock.until(() => shop.keys().filter((key) => key.startsWith("quick-")).length === 60);
  const slow = shop.keys().filter((key) => key.startsWith("slow-")).length;
  assert.ok(slow <= 4, `the quick ones waited for ${slow} slow ones`);
  await shop.finish();
  assert.equal(shop.most.get("resolver:slow"), 1);
});

test("many lanes in few places all move on", async (t) => {
  const shop = await Workshop.open(t, { maxActiveLanes: 2, latencyMs: 100, rules: { maxPerSite: 1 } });
  const sites = Array.from({ length: 6 }, (_, n) => `s${n}.test`);
  await shop.run(sites.flatMap((site) => pages(site, 100)));
  await shop.clock.until(() => new Set(shop.starts.map((start) => start.site)).size === 6);
  // Two lanes of 100 pages at 10 a second would keep the others waiting for 10 s and more.
  const last = shop.starts.at(-1)!.at - shop.starts[0]!.at;
  assert.ok(last < 6000, `the last site's first page came after ${last} ms`);
  await shop.finish();
});

test("a page that lives on another site is fetched there, under that site's limits", async (t) => {
  const shop = await Workshop.open(t, {
    rules: { maxPerSite: 1 },
    answer: (task) =>
      task.nextUrl === null && task.url?.includes("//a.test/") === true
        ? { kind: "moved", url: task.url.replace("a.test", "b.test"), redirects: [task.url] }
        : null,
  });
  const run = await shop.run(pages("a.test", 10));
  await shop.finish();
  assert.equal(shop.most.get("b.test"), 1);
  const task = await shop.task(run, "a.test-3");
  assert.deepEqual([task.state, task.lane, task.tries], ["completed", "site:b.test", 1]);
  assert.equal(task.attempts.length, 2);
});

test("a page that fails is tried again after 10 s and 30 s, and then no more", async (t) => {
  const shop = await Workshop.open(t, {
    rules: { breaker: { failures: 100, cooldownMs: 1000 } },
    answer: () => status(500),
  });
  const run = await shop.run(pages("a.test", 1));
  await shop.finish();
  const times = shop.starts.map((start) => start.at - shop.starts[0]!.at);
  assert.equal(times.length, 3);
  assert.ok(times[1]! >= 10_000 && times[1]! <= 11_100, `${times[1]}`);
  assert.ok(times[2]! - times[1]! >= 30_000 && times[2]! - times[1]! <= 33_100, `${times[2]}`);
  const task = await shop.task(run, "a.test-0");
  assert.deepEqual([task.state, task.failure?.code, task.tries], ["failed", "bad_response", 3]);
  assert.equal((await shop.store.run(run.id))?.status, "failed");
});

test("a retry that waits keeps nobody else from working", async (t) => {
  const shop = await Workshop.open(t, {
    rules: { maxPerSite: 1 },
    answer: (task, times) => (task.key === "a.test-0" && times < 3 ? status(500) : null),
  });
  const run = await shop.run(pages("a.test", 50));
  await shop.clock.advance(5000);
  assert.equal(new Set(shop.keys()).size, 50);
  await shop.finish();
  assert.equal((await shop.task(run, "a.test-0")).tries, 3);
  assert.equal((await shop.store.run(run.id))?.status, "completed");
});

test("a missing page is not tried again", async (t) => {
  const shop = await Workshop.open(t, { answer: () => status(404) });
  const run = await shop.run(pages("a.test", 1));
  await shop.finish();
  assert.equal(shop.starts.length, 1);
  assert.equal((await shop.task(run, "a.test-0")).failure?.reason, "http_not_found");
});

test("rate limits are waited out without spending attempts", async (t) => {
  const shop = await Workshop.open(t, {
    rules: { maxPerSite: 1 },
    answer: (_, times) => (times <= 3 ? status(429, 20_000) : null),
  });
  const run = await shop.run(pages("a.test", 1));
  await shop.finish();
  const task = await shop.task(run, "a.test-0");
  assert.deepEqual([task.state, task.tries, task.waits, task.attempts.length], ["completed", 1, 3, 4]);
  const times = shop.starts.map((start) => start.at);
  for (let n = 1; n < times.length; n += 1) assert.ok(times[n]! - times[n - 1]! >= 20_000);
});

test("a page that is always refused for its rate fails as rate_limited in the end", async (t) => {
  const shop = await Workshop.open(t, {
    rules: { maxPerSite: 1, breaker: { failures: 100, cooldownMs: 1000 } },
    answer: () => status(429, 1000),
  });
  const run = await shop.run(pages("a.test", 1));
  await shop.finish();
  const task = await shop.task(run, "a.test-0");
  assert.deepEqual([task.state, task.failure?.code, task.waits], ["failed", "rate_limited", 5]);
  assert.equal(shop.starts.length, 6);
});

for (const [perSecond, retryAfterMs] of [
  [1, 1000],
  [1, null],
  [20, 1000],
] as const) {
  const words = retryAfterMs === null ? "without saying when to come back" : `and says ${retryAfterMs / 1000} s`;
  test(`a site that allows ${perSecond} a second ${words} gets that, and no page is lost`, async (t) => {
    let tokens: number = perSecond;
    let at = 0;
    const shop: Workshop = await Workshop.open(t, {
      rules: { maxPerSite: 10 },
      latencyMs: 50,
      answer: () => {
        const now = shop.clock.monotonic();
        tokens = Math.min(perSecond, tokens + ((now - at) / 1000) * perSecond);
        at = now;
        if (tokens < 1) return status(429, retryAfterMs);
        tokens -= 1;
        return null;
      },
    });
    const run = await shop.run(pages("a.test", 100));
    await shop.finish(600_000);
    assert.equal((await shop.store.run(run.id))?.status, "completed");
    assert.ok(shop.starts.length < 150, `${shop.starts.length} requests for 100 pages`);
  });
}

test("a hold keeps the whole site waiting, and no other", async (t) => {
  const shop = await Workshop.open(t, {
    rules: { maxPerSite: 1 },
    answer: (task, times) => (task.key === "a.test-0" && times === 1 ? status(429, 60_000) : null),
  });
  await shop.run([...pages("a.test", 5), ...pages("b.test", 5)]);
  await shop.clock.advance(59_000);
  assert.equal(shop.starts.filter((start) => start.site === "a.test").length, 1);
  assert.equal(shop.starts.filter((start) => start.site === "b.test").length, 5);
  await shop.finish();
});

test("a hold survives the process", async (t) => {
  const shop = await Workshop.open(t, { answer: (_, times) => (times === 1 ? status(429, 60_000) : null) });
  await shop.run(pages("a.test", 1));
  await shop.clock.advance(1000);
  const { site, holdUntil } = (await shop.store.site("a.test"))!;
  assert.equal(site, "a.test");
  assert.ok(holdUntil > shop.clock.now() + 58_000);
  await shop.finish();
});

test("a dead site is given up after three failed probes, with the reason", async (t) => {
  const shop = await Workshop.open(t, { rules: { maxPerSite: 1 }, answer: () => status(500) });
  const run = await shop.run(pages("a.test", 50));
  await shop.finish();
  const probes = shop.starts.length;
  assert.equal(probes, 5 + 3, "five failures, then one probe each time");
  const reasons = new Map<string, number>();
  for (const task of await shop.store.tasks(run.id, { limit: 100 })) {
    const reason = task.failure?.reason ?? task.state;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  assert.equal((reasons.get("breaker_open") ?? 0) + (reasons.get("http_server_error") ?? 0), 50);
  assert.ok((reasons.get("breaker_open") ?? 0) >= 47);
  const events = await shop.store.events(run.id, { limit: 1000 });
  assert.equal(events.filter((event) => event.message.startsWith("Breaker opened")).length, 4);
});

test("a lane that its own work brings new work is kept, not given back and taken again", async (t) => {
  let taken = 0;
  const shop = await Workshop.open(t, {
    answer: ({ url, nextUrl }) => {
      const at = Number((nextUrl ?? url ?? "").split("-").at(-1));
      return at === 5 ? null : { kind: "moved", url: `http://a.test/page-${at + 1}`, redirects: [] };
    },
    wrap: (store) => ({ ...store, takeLane: (...args) => ((taken += 1), store.takeLane(...args)) }),
  });
  await shop.run([{ ...pages("a.test", 1)[0]!, url: "http://a.test/page-0" }]);
  await shop.finish();
  assert.equal(shop.starts.length, 6);
  // Once more, perhaps, because the start of the run is told twice.
  assert.ok(taken <= 2, `the lane was taken ${taken} times`);
});

test("pages of a run that has a deadline wait for a dead site as long as it takes, and nobody asks it more often", async (t) => {
  let down = true;
  let taken = 0;
  const shop = await Workshop.open(t, {
    rules: { maxPerSite: 1, retry: { maxAttempts: 20 } },
    answer: () => (down ? status(500) : null),
    wrap: (store) =>
      new Proxy(store, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown;
          if (name === "takeLane") taken += 1;
          return typeof value === "function" ? (value.bind(target) as unknown) : value;
        },
      }),
  });
  const run = await shop.run(pages("a.test", 50), { timeLimitMs: 7_200_000 });
  await shop.clock.until(() => shop.starts.length === 5, 600_000);
  taken = 0;
  await shop.clock.advance(3_600_000);
  assert.equal(shop.starts.length, 5 + 11, "one probe after each rest of five minutes");
  assert.ok(taken < 100, `the lane was taken ${taken} times in an hour`);
  const counts = async (of: { id: string }) => (await shop.store.overview(of.id, 0)).totals;
  assert.equal((await counts(run)).failed, 0);
  const [work] = await shop.store.lanesWithWork();
  assert.equal(work?.readyAt, (await shop.store.site("a.test"))?.breaker.openUntil);
  down = false;
  await shop.finish(1_200_000);
  assert.equal((await counts(run)).completed, 50);
});

test("on a dead site, a run with a deadline waits and one without is told, also when it comes later", async (t) => {
  let down = true;
  const shop = await Workshop.open(t, { rules: { maxPerSite: 1 }, answer: () => (down ? status(500) : null) });
  const timed = await shop.run(pages("a.test", 30, {}, "timed-"), { timeLimitMs: 36_000_000 });
  const endless = await shop.run(pages("a.test", 30, {}, "endless-"));
  const ended = async (run: { id: string }) => (await shop.store.run(run.id))?.status === "failed";
  for (let minutes = 0; !(await ended(endless)); minutes += 1) {
    assert.ok(minutes < 60, "it did not end");
    await shop.clock.advance(60_000);
  }
  const asked = shop.starts.length;
  const late = await shop.run(pages("a.test", 30, {}, "late-"));
  await shop.clock.advance(1000);
  assert.ok(await ended(late));
  assert.equal(shop.starts.length, asked, "without a request");
  const newcomer = await shop.run(pages("a.test", 10, {}, "newcomer-"), { timeLimitMs: 36_000_000 });
  await shop.clock.advance(1000);
  assert.equal(shop.starts.length, asked);
  down = false;
  await shop.finish(600_000);
  assert.equal((await shop.store.run(newcomer.id))?.status, "completed");
  const { completed, failed } = (await shop.store.overview(timed.id, 0)).totals;
  assert.equal(completed + failed, 30);
  assert.ok(failed <= 2, "only pages whose own tries were used up as probes");
  assert.deepEqual((await shop.store.audit()).findings, []);
});

test("a site that comes back is worked on as if nothing had been", async (t) => {
  let down = true;
  const shop = await Workshop.open(t, {
    rules: { retry: { maxAttempts: 10 } },
    answer: () => (down ? status(500) : null),
  });
  const run = await shop.run(pages("a.test", 20));
  await shop.clock.advance(310_000);
  down = false;
  await shop.finish();
  assert.equal((await shop.store.run(run.id))?.status, "completed");
  assert.equal((await shop.store.site("a.test"))?.breaker.openUntil, null);
});

test("failed items of a site that was given up are really tried again when that is asked for", async (t) => {
  let down = true;
  const shop = await Workshop.open(t, { rules: { maxPerSite: 1 }, answer: () => (down ? status(500) : null) });
  const run = await shop.run(pages("a.test", 20));
  await shop.finish();
  down = false;
  const { requeued, lanes } = await shop.store.retryFailed(run.id, { limit: 1000 }, shop.clock.now());
  assert.equal(requeued, 20);
  shop.engine.offer(lanes);
  await shop.finish();
  assert.equal((await shop.store.run(run.id))?.status, "completed");
});

test("limits that an operator changes are seen within a second, by running work", async (t) => {
  const shop = await Workshop.open(t, { rules: { maxPerSite: 8 }, latencyMs: 50 });
  await shop.run(pages("a.test", 2000));
  await shop.clock.advance(1000);
  assert.equal(shop.most.get("a.test"), 8);
  // Written by another process: nothing tells the engine but the store itself.
  await shop.store.setSite("a.test", { maxConcurrency: 2 });
  await shop.clock.advance(1000);
  shop.most.set("a.test", 0);
  await shop.clock.advance(2000);
  assert.equal(shop.most.get("a.test"), 2);
  await shop.store.setSite("a.test", { paused: true });
  await shop.clock.advance(1000);
  const paused = shop.starts.length;
  await shop.clock.advance(60_000);
  assert.equal(shop.starts.length, paused);
  await shop.store.setSite("a.test", { paused: false, maxConcurrency: null });
  await shop.clock.advance(1000);
  assert.ok(shop.starts.length > paused);
  await shop.finish();
});

test("a resolver's limit changes live", async (t) => {
  const shop = await Workshop.open(t, { rules: { maxPerSite: 10, maxPerResolver: { r: 4 } }, latencyMs: 50 });
  await shop.run(pages("a.test", 1000, { resolver: "r" }));
  await shop.clock.advance(1000);
  assert.equal(shop.most.get("resolver:r"), 4);
  await shop.store.setBudgetCap(resolverKey("r"), 1);
  await shop.clock.advance(1000);
  shop.most.set("resolver:r", 0);
  await shop.clock.advance(2000);
  assert.equal(shop.most.get("resolver:r"), 1);
  await shop.store.setBudgetCap(resolverKey("r"), 8);
  await shop.clock.advance(1000);
  assert.equal(shop.most.get("resolver:r"), 8);
  await shop.finish();
});

test("a paused run waits, its neighbours do not", async (t) => {
  const shop = await Workshop.open(t, { latencyMs: 50, rules: { maxPerSite: 2 } });
  const first = await shop.run(pages("a.test", 200, {}, "x-"));
  await shop.run(pages("a.test", 50, {}, "y-"));
  await shop.clock.advance(500);
  await shop.store.changeRun(first.id, "paused", "Run paused", shop.clock.now());
  await shop.clock.advance(5000);
  const x = shop.keys().filter((key) => key.startsWith("x-")).length;
  assert.equal(shop.keys().filter((key) => key.startsWith("y-")).length, 50);
  await shop.clock.advance(60_000);
  assert.equal(shop.keys().filter((key) => key.startsWith("x-")).length, x);
  await shop.store.changeRun(first.id, "running", "Run resumed", shop.clock.now());
  await shop.finish();
});

test("a stop within the grace period finishes what runs and hands the rest back unspent", async (t) => {
  const shop = await Workshop.open(t, { rules: { maxPerSite: 2 }, latencyMs: 10_000 });
  const run = await shop.run(pages("a.test", 10));
  await shop.clock.advance(100);
  const stopped = shop.engine.stop();
  await shop.clock.advance(15_000);
  await stopped;
  const tasks = await shop.store.tasks(run.id, { limit: 100 });
  assert.deepEqual(
    tasks.map((task) => [task.state, task.tries]),
    Array.from({ length: 10 }, (_, n) => (n < 2 ? ["completed", 1] : ["queued", 0])),
  );
  assert.deepEqual((await shop.store.audit()).findings, []);
});

test("what does not end within the grace period is handed back unspent", async (t) => {
  const shop = await Workshop.open(t, { latencyMs: 3_600_000 });
  const run = await shop.run(pages("a.test", 2));
  await shop.clock.advance(100);
  const stopped = shop.engine.stop();
  await shop.clock.advance(31_000);
  await stopped;
  const tasks = await shop.store.tasks(run.id, { limit: 100 });
  assert.deepEqual(
    tasks.map((task) => [task.state, task.tries, task.attempts.length]),
    [
      ["queued", 0, 0],
      ["queued", 0, 0],
    ],
  );
});

/** A store of which one verb fails as long as `faults` says so. */
function failing(verb: keyof Store, fault: () => Error | null): (store: Store) => Store {
  return (store) =>
    new Proxy(store, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        if (name !== verb || typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          const error = fault();
          if (error !== null) throw error;
          return (value as (...all: unknown[]) => Promise<unknown>).apply(target, args);
        };
      },
    });
}

for (const [verb, error] of [
  ["releaseLane", new OrbError("database_busy", "locked")],
  ["releaseLane", new Error("unforeseen")],
  ["claim", new OrbError("database_busy", "locked")],
  ["claim", new Error("unforeseen")],
  ["site", new Error("unforeseen")],
  ["takeLane", new OrbError("database_busy", "locked")],
] as const) {
  test(`a lane is not forgotten when ${verb} fails for a while (${error.message})`, async (t) => {
    let faults = 0;
    const wrap = failing(verb, () => (faults > 0 ? ((faults -= 1), error) : null));
    const shop = await Workshop.open(t, { wrap, latencyMs: 100 });
    const run = await shop.run(pages("a.test", 20));
    await shop.clock.advance(150);
    faults = 2;
    await shop.store.setSite("a.test", { maxConcurrency: 3 });
    await shop.clock.advance(30_000);
    faults = 0;
    await shop.add(run, pages("a.test", 5, {}, "more-"));
    await shop.finish(120_000);
    assert.equal((await shop.store.run(run.id))?.status, "completed");
    assert.equal(shop.most.get("a.test")! <= 4, true);
    assert.deepEqual((await shop.store.audit()).findings, []);
  });
}

test("an outcome that can never be written does not stop its lane for good", async (t) => {
  let broken = true;
  const wrap = (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        if (name !== "settle") return Reflect.get(target, name) as unknown;
        return async (batches: Parameters<Store["settle"]>[0], now: number) => {
          if (broken && batches.some((batch) => batch.tasks.some(({ task }) => task.key === "a.test-3")))
            throw new Error("a value that cannot be stored");
          return target.settle(batches, now);
        };
      },
    });
  const shop = await Workshop.open(t, { wrap });
  const run = await shop.run(pages("a.test", 10));
  await shop.clock.advance(10_000);
  broken = false;
  await shop.finish(120_000);
  assert.equal((await shop.store.run(run.id))?.status, "completed");
});

test(
  "whatever comes in whatever order, no limit is ever exceeded and everything ends",
  { timeout: 60_000 },
  async () => {
    const scenario = fc.record({
      perSite: fc.integer({ min: 1, max: 4 }),
      perResolver: fc.integer({ min: 1, max: 3 }),
      maxWorkers: fc.integer({ min: 1, max: 6 }),
      maxActiveLanes: fc.integer({ min: 1, max: 4 }),
      latencies: fc.array(fc.constantFrom(0, 1, 7, 60, 900), { minLength: 1, maxLength: 5 }),
      batches: fc.array(
        fc.record({
          at: fc.integer({ min: 0, max: 3000 }),
          tasks: fc.array(
            fc.record({
              site: fc.constantFrom("a.test", "b.test", "c.test"),
              resolver: fc.constantFrom(null, "r", "free"),
              priority: fc.integer({ min: -2, max: 2 }),
              behaviour: fc.constantFrom("ok", "ok", "ok", "flaky", "gone", "moved", "limited"),
            }),
            { minLength: 1, maxLength: 25 },
          ),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    });
    const runs = process.env["ORB_TEST_FULL"] === "1" ? 500 : 40;
    await fc.assert(
      fc.asyncProperty(scenario, async (plan) => {
        let number = 0;
        const shop = await Workshop.open(null, {
          rules: {
            maxPerSite: plan.perSite,
            maxPerResolver: { r: plan.perResolver },
            breaker: { failures: 1000, cooldownMs: 1000 },
            retry: { backoff: { baseMs: 100, maxMs: 1000 } },
          },
          maxWorkers: plan.maxWorkers,
          maxActiveLanes: plan.maxActiveLanes,
          latencyMs: () => plan.latencies[(number += 1) % plan.latencies.length]!,
          answer: (task, times) => {
            const behaviour = (task.payload as { behaviour: string }).behaviour;
            if (behaviour === "gone") return status(404);
            if (behaviour === "flaky" && times === 1) return status(500);
            if (behaviour === "limited" && times <= 2) return status(429, 50);
            if (behaviour === "moved" && task.nextUrl === null)
              return { kind: "moved", url: `http://c.test/${task.key}`, redirects: [task.url ?? ""] };
            return null;
          },
        });
        try {
          const batches = plan.batches.toSorted((a, b) => a.at - b.at);
          let now = 0;
          for (const [index, batch] of batches.entries()) {
            await shop.clock.advance(batch.at - now);
            now = batch.at;
            await shop.run(
              batch.tasks.map(({ site, resolver, priority, behaviour }, n) => ({
                key: `${index}-${n}`,
                url: `http://${site}/${index}-${n}`,
                resolver,
                priority,
                payload: { behaviour },
              })),
            );
          }
          await shop.finish(3_600_000);
          for (const site of ["a.test", "b.test", "c.test"])
            assert.ok((shop.most.get(site) ?? 0) <= plan.perSite, site);
          assert.ok((shop.most.get("resolver:r") ?? 0) <= plan.perResolver);
          assert.deepEqual((await shop.store.audit()).findings, []);
        } finally {
          await shop.close();
        }
      }),
      { numRuns: runs },
    );
  },
);

test("a resolver may have any name, also one that every object knows", async (t) => {
  const shop = await Workshop.open(t, { rules: { maxPerResolver: { slow: 1 } } });
  await shop.run([
    ...pages("a.test", 3, { resolver: "constructor" }, "c-"),
    ...pages("a.test", 3, { resolver: "__proto__" }, "p-"),
  ]);
  await shop.finish();
  assert.equal(shop.keys().length, 6);
});

test("a retry that becomes due does not wait for tasks whose resolver another site uses", async (t) => {
  let failed = false;
  const shop = await Workshop.open(t, {
    rules: { maxPerResolver: { slow: 1 }, retry: { backoff: { baseMs: 300, maxMs: 300 } } },
    latencyMs: (task) => (task.resolver === "slow" ? 60_000 : 10),
    answer: (task) => {
      if (task.key !== "flaky-b.test-0" || failed) return GOOD;
      failed = true;
      return status(500);
    },
  });
  await shop.run(pages("a.test", 1, { resolver: "slow" }, "slow-"));
  await shop.clock.until(() => shop.starts.length === 1);
  const begun = shop.clock.monotonic();
  await shop.run([...pages("b.test", 1, { resolver: "slow" }, "blocked-"), ...pages("b.test", 1, {}, "flaky-")]);
  await shop.clock.until(() => shop.keys().filter((key) => key === "flaky-b.test-0").length === 2);
  assert.ok(shop.clock.monotonic() - begun < 5000, "it came when it was due, not when the resolver was free");
  await shop.finish();
});

test("a handler's last word about a task that failed is told once, also when its site was given up", async (t) => {
  const shop = await Workshop.open(t, {
    rules: { maxPerSite: 1 },
    answer: () => status(500),
    onFailed: ({ key }, { reason }) => ({ level: "warn", message: `Not read: ${key}`, meta: { reason } }),
  });
  const run = await shop.run(pages("a.test", 12));
  await shop.finish();
  const told = (await shop.store.events(run.id, { limit: 1000 })).filter(({ message }) =>
    message.startsWith("Not read"),
  );
  assert.deepEqual(
    told.map(({ message }) => message).toSorted(),
    (await shop.store.tasks(run.id, { limit: 100 })).map(({ key }) => `Not read: ${key}`).toSorted(),
  );
  const reasons = new Set(told.map(({ meta }) => (meta as { reason: string }).reason));
  assert.ok(reasons.has("breaker_open"), [...reasons].join());
});
