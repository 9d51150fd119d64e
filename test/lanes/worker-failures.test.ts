import assert from "node:assert/strict";
import { test } from "node:test";
import { pages, status, Workshop } from "./workshop.ts";

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
  assert.equal(events.filter((event) => event.message.startsWith("Circuit opened")).length, 4);
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

test("on a dead site, a run with a deadline waits and one without is told, also when it comes later [slow]", async (t) => {
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

test("failed items of a site that was given up are really tried again when that is asked for [slow]", async (t) => {
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

test("a handler's last word about a task that failed is told once, also when its site was given up [slow]", async (t) => {
  const shop = await Workshop.open(t, {
    rules: { maxPerSite: 1 },
    answer: () => status(500),
    onFailed: ({ key }, { reason }) => ({
      type: "sitemap.failed",
      level: "warn",
      message: `Not read: ${key}`,
      meta: { reason },
    }),
  });
  const run = await shop.run(pages("a.test", 12));
  await shop.finish();
  const paused = (await shop.store.events(run.id, { limit: 1000 })).filter(({ message }) =>
    message.startsWith("Not read"),
  );
  assert.deepEqual(
    paused.map(({ message }) => message).toSorted(),
    (await shop.store.tasks(run.id, { limit: 100 })).map(({ key }) => `Not read: ${key}`).toSorted(),
  );
  const reasons = new Set(paused.map(({ meta }) => (meta as { reason: string }).reason));
  assert.ok(reasons.has("breaker_open"), [...reasons].join());
});
