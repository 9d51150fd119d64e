import assert from "node:assert/strict";
import { test } from "node:test";
import { OrbError } from "../../src/base/errors.ts";
import { resolverKey } from "../../src/domain/lane/lane.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { pages, Workshop } from "./workshop.ts";

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

test("a resolver's limit changes live [slow]", async (t) => {
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

test("of tasks under one limit no more are in progress than may be, whatever their sites would allow", async (t) => {
  const rules = { maxPerSite: 10, maxPerResolver: { r: 1, wide: 20 } };
  const shop = await Workshop.open(t, { rules, latencyMs: 50, maxWorkers: 100 });
  for (const [resolver, limit] of Object.entries(rules.maxPerResolver)) {
    const sites = ["a", "b", "c"].map((name) => `${name}.${resolver}.test`);
    const run = await shop.run(sites.flatMap((site) => pages(site, 20, { resolver })));
    let [most, completed] = [0, 0];
    while (completed < 60) {
      await shop.clock.advance(5);
      const { totals } = await shop.store.overview(run.id, 0);
      completed = totals.completed;
      // What has ended is written a moment later.
      most = Math.max(most, totals.running);
    }
    assert.ok(most <= (limit === 1 ? 1 : limit * 2), `${most} in progress under a limit of ${limit}`);
  }
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
