import assert from "node:assert/strict";
import { test } from "node:test";
import type { SiteLimits } from "../../src/store/records/site-records.ts";
import { pages, status, Workshop, type WorkshopOptions } from "./workshop.ts";

const SITE = "a.example";
/** How soon owners notice what others wrote, and a little more. */
const NOTICED_MS = 600;

/** A workshop whose only site is in so many shards, and a hand to change that. */
async function open(
  t: Parameters<typeof Workshop.open>[0],
  limits: Partial<SiteLimits>,
  options: WorkshopOptions = {},
): Promise<{ shop: Workshop; set(change: Partial<SiteLimits>): Promise<unknown> }> {
  const shop = await Workshop.open(t, { latencyMs: 100, maxWorkers: 64, ...options });
  const set = (change: Partial<SiteLimits>) => shop.store.setSite(SITE, change);
  await set({ maxConcurrency: 8, minDelayMs: 0, ...limits });
  return { shop, set };
}

/** In which lanes the tasks of the run are. */
async function lanesOf(shop: Workshop, run: { id: string }): Promise<Map<string, number>> {
  const lanes = new Map<string, number>();
  for (const { lane } of await shop.store.tasks(run.id, { limit: 10_000 })) lanes.set(lane, (lanes.get(lane) ?? 0) + 1);
  return lanes;
}

function expectOnceEach(shop: Workshop, count: number): void {
  assert.equal(shop.starts.length, count);
  assert.equal(new Set(shop.keys()).size, count, "each once");
}

test("a site in four shards is asked by all of them, and never for more than it allows at once", async (t) => {
  const { shop } = await open(t, { shards: 4 });
  const run = await shop.run(pages(SITE, 400));
  await shop.finish();
  expectOnceEach(shop, 400);
  assert.equal(shop.most.get(SITE), 8, "all that is allowed is used, and no more");
  const lanes = await lanesOf(shop, run);
  assert.equal(lanes.size, 4);
  for (const [lane, count] of lanes) assert.ok(count >= 40, `${lane} did ${count} of 400`);
  assert.deepEqual((await shop.store.audit()).findings, []);
});

test("shards may be changed while a site is crawled: each page once, and no moment with too many at once", async (t) => {
  const { shop, set } = await open(t, { shards: 1 });
  await shop.run(pages(SITE, 900));
  for (const [done, change] of [
    [100, { shards: 4 }],
    [300, { shards: 2 }],
    [450, { shards: 8 }],
    [600, { maxConcurrency: 5 }],
    [750, { shards: 1 }],
  ] as const) {
    await shop.clock.until(() => shop.starts.length >= done);
    await set(change);
  }
  await shop.finish();
  expectOnceEach(shop, 900);
  assert.equal(shop.most.get(SITE), 8);
  assert.equal((await shop.store.site(SITE))?.shardCount, 1);
  assert.deepEqual((await shop.store.audit()).findings, []);
});

test("a rate and its burst hold over all shards together", async (t) => {
  const { shop } = await open(t, { shards: 4, requestsPerSecond: 20, burst: 6 });
  await shop.run(pages(SITE, 300));
  await shop.finish();
  expectOnceEach(shop, 300);
  const times = shop.starts.map(({ at }) => at);
  for (const [first, from] of times.entries())
    for (const [last, to] of times.entries())
      if (last >= first) assert.ok(last - first + 1 <= 6 + (20 * (to - from)) / 1000 + 1e-6, `${from} to ${to}`);
  assert.ok((times.at(-1) ?? 0) - (times[0] ?? 0) < 17_000, "and it is used");
});

test("what one shard is asked to wait for holds the others within a second", async (t) => {
  const { shop } = await open(
    t,
    { shards: 4 },
    { answer: (task, times) => (task.key === `${SITE}-120` && times === 1 ? status(429, 8000) : null) },
  );
  await shop.run(pages(SITE, 300));
  await shop.clock.until(() => shop.keys().includes(`${SITE}-120`));
  const refusedAt = (shop.starts.find(({ key }) => key === `${SITE}-120`)?.at ?? 0) + 100;
  await shop.finish();
  const early = shop.starts.filter(({ at }) => at > refusedAt + NOTICED_MS && at < refusedAt + 8000);
  assert.deepEqual(early, []);
  const after = shop.starts.filter(({ at }) => at >= refusedAt + 8000);
  assert.ok(after.length > 100, "they go on when it is over");
  const together = after.filter(({ at }) => at < refusedAt + 8000 + 90);
  assert.ok(together.length <= 4, `each shard begins with one at a time: ${together.length}`);
});

test("a breaker that one shard opens stops the site, and one of them tries it when it has rested", async (t) => {
  let broken = true;
  const { shop } = await open(
    t,
    { shards: 4 },
    {
      rules: { breaker: { failures: 5, cooldownMs: 60_000 }, retry: { maxAttempts: 10 } },
      answer: () => (broken ? status(500) : null),
    },
  );
  await shop.run(pages(SITE, 100));
  while ((await shop.store.site(SITE))?.breaker.openUntil === null) await shop.clock.advance(50);
  const openedAt = shop.clock.monotonic();
  await shop.clock.advance(NOTICED_MS);
  const before = shop.starts.length;
  await shop.clock.advance(58_000);
  assert.equal(shop.starts.length, before, "nothing is sent while it rests");
  await shop.clock.until(() => shop.starts.length > before);
  await shop.clock.advance(1000);
  assert.equal(shop.starts.length, before + 1, "one probe, not one of each shard");
  assert.ok(shop.clock.monotonic() - openedAt < 66_000);
  broken = false;
  await shop.finish();
  assert.ok((await shop.store.site(SITE))?.breaker.openUntil === null);
});

test("a site that gets a pause between requests is one lane again, and the pause holds", async (t) => {
  const { shop, set } = await open(t, { shards: 4 });
  await shop.run(pages(SITE, 200));
  await shop.clock.until(() => shop.starts.length >= 60);
  await set({ minDelayMs: 400 });
  await shop.clock.advance(NOTICED_MS);
  const from = shop.starts.length;
  await shop.finish();
  expectOnceEach(shop, 200);
  const times = shop.starts.slice(from).map(({ at }) => at);
  for (const [n, at] of times.entries()) if (n > 0) assert.ok(at - (times[n - 1] ?? 0) >= 400);
  const { shardCount, shards } = (await shop.store.site(SITE))!;
  assert.deepEqual([shardCount, shards], [1, 4]);
});
