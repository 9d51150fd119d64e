import assert from "node:assert/strict";
import { test } from "node:test";
import { summaryOf } from "../../src/domain/site/site-health.ts";
import type { SettleBatch, Store } from "../../src/store/ports/port.ts";
import { GOOD, pages, status, Workshop } from "./workshop.ts";

const SITE = "a.example";

/** What is written of a site's health and waits, as it passes by. */
function listening(into: SettleBatch[]) {
  return (store: Store): Store =>
    new Proxy(store, {
      get: (target, name) => {
        const verb = Reflect.get(target, name, target) as unknown;
        if (typeof verb !== "function") return verb;
        return (...args: unknown[]) => {
          if (name === "settle") into.push(...(args[0] as SettleBatch[]));
          return (verb as (...all: unknown[]) => unknown).apply(target, args);
        };
      },
    });
}

const healthOf = async (shop: Workshop, site = SITE) => {
  const { health } = (await shop.store.site(site))!;
  return { health, ...summaryOf(health, shop.clock.now()) };
};

test("how a site does stands on its row: outcomes, times, and when it last answered well", async (t) => {
  const shop = await Workshop.open(t, {
    rules: { retry: { maxAttempts: 1 }, breaker: { failures: 100, cooldownMs: 1000 } },
    latencyMs: 20,
    answer: (task) => {
      const n = Number(task.key.split("-").at(-1));
      if (n % 10 === 3) return status(403);
      if (n % 10 === 7) return status(404);
      return { ...GOOD, answeredMs: n % 10 === 9 ? 900 : 50 };
    },
  });
  await shop.run(pages(SITE, 100));
  await shop.finish();
  const { good, failed, blocked, p50Ms, p95Ms, health } = await healthOf(shop);
  assert.deepEqual([good, failed, blocked], [80, 10, 10]);
  assert.ok(Math.abs(p50Ms! - 50) <= 3 && Math.abs(p95Ms! - 900) <= 45, `${p50Ms} ${p95Ms}`);
  assert.ok(health!.lastSuccessAt! <= shop.clock.now());
  // The next owner continues with it.
  await shop.run(pages(SITE, 10, {}, "again-"));
  await shop.finish();
  assert.equal((await healthOf(shop)).good, 88);
});

test("a busy site is written about once a second, and whatever was not told is told at the end", async (t) => {
  const written: SettleBatch[] = [];
  const shop = await Workshop.open(t, { latencyMs: 10, wrap: listening(written) });
  await shop.run(pages(SITE, 1000));
  const begun = shop.clock.monotonic();
  await shop.finish();
  const seconds = (shop.clock.monotonic() - begun) / 1000;
  const reported = written.filter(({ health }) => health !== undefined).length;
  assert.ok(reported >= 2 && reported <= seconds + 2, `${reported} in ${seconds} s`);
  assert.equal((await healthOf(shop)).good, 1000);
});

test("what a site's work waits for is told with its end, and taken back when nothing waits any more", async (t) => {
  const shop = await Workshop.open(t);
  const waiting = async () => (await shop.store.site(SITE))!.waiting;
  await shop.store.setSite(SITE, { requestsPerSecond: 0.2 });
  const run = await shop.run(pages(SITE, 3));
  await shop.clock.advance(6000);
  assert.equal(shop.starts.length, 1);
  const reported = (await waiting())!;
  assert.equal(reported.reason, "rate");
  const left = reported.until! - shop.clock.now();
  assert.ok(left > 0 && left <= 5000, `${left} ms`);
  await shop.store.setSite(SITE, { requestsPerSecond: null, minDelayMs: 700 });
  shop.engine.controlChanged();
  await shop.clock.advance(400);
  assert.equal((await waiting())?.reason, "min_delay");
  await shop.finish();
  assert.equal((await shop.store.run(run.id))!.status, "completed");
  assert.equal(await waiting(), null);
});

test("sites of one group are counted each by itself, and the longest pause that one of them asks for holds for all", async (t) => {
  const delays: Record<string, number> = { "a.example": 0, "b.example": 2000 };
  const shop = await Workshop.open(t, {
    robots: { check: async (url) => delays[new URL(url).hostname]!, mayFollow: () => true },
    answer: (task) => (task.url!.includes("b.example") ? { ...GOOD, answeredMs: 70 } : null),
  });
  for (const site of Object.keys(delays)) await shop.store.setSite(site, { group: "shop" });
  await shop.run([...pages("a.example", 4), ...pages("b.example", 4)]);
  await shop.finish();
  assert.deepEqual([(await healthOf(shop)).good, (await healthOf(shop, "b.example")).good], [4, 4]);
  const [plain, measured] = [(await healthOf(shop)).p50Ms, (await healthOf(shop, "b.example")).p50Ms];
  assert.ok(plain === null && Math.abs(measured! - 70) <= 4, `${plain} ${measured}`);
  const times = shop.starts.map(({ at }) => at);
  const first = shop.starts.findIndex(({ site }) => site === "b.example");
  const gaps = times.slice(first + 1).map((at, n) => at - times[first + n]!);
  assert.ok(
    gaps.every((gap) => gap >= 2000),
    gaps.join(" "),
  );
});
