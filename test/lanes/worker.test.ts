import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { GOOD, pages, status, Workshop } from "./workshop.ts";
import { FULL } from "../support/gate.ts";

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

test("sites under a limit of one take turns", async (t) => {
  const shop = await Workshop.open(t, { rules: { maxPerSite: 10, maxPerResolver: { slow: 1 } }, latencyMs: 100 });
  const sites = ["a.test", "b.test", "c.test"];
  await shop.run(
    sites.flatMap((site) => pages(site, 30, { resolver: "slow" })),
    { kind: "queue" },
  );
  await shop.finish();
  const order = shop.starts.map(({ site }) => site).slice(0, 80);
  assert.ok(
    order.every((site, index) => site !== order[index + 1] || site !== order[index + 2]),
    order.join(" "),
  );
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
  // One more is possible, because the start of the run is announced twice.
  assert.ok(taken <= 2, `the lane was taken ${taken} times`);
});

test(
  "whatever comes in whatever order, no limit is ever exceeded and everything ends",
  { timeout: 300_000 },
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
    const runs = FULL ? 500 : 40;
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
