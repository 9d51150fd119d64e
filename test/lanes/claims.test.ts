import assert from "node:assert/strict";
import { test } from "node:test";
import { pages, Workshop } from "./workshop.ts";

test("while a resolver has no room, the store is not asked again and again for what is not of it", async (t) => {
  let empty = 0;
  const shop = await Workshop.open(t, {
    rules: { maxPerSite: 4, maxPerResolver: { crawl: 1 } },
    latencyMs: 100,
    wrap: (store) => ({
      ...store,
      claim: async (...args) => {
        const claim = await store.claim(...args);
        if (claim?.tasks.length === 0) empty += 1;
        return claim;
      },
    }),
  });
  const sites = ["a.test", "b.test", "c.test", "d.test"];
  await shop.run(sites.flatMap((site) => pages(site, 10, { resolver: "crawl" })));
  await shop.finish();
  assert.equal(shop.starts.length, 40);
  assert.equal(shop.most.get("resolver:crawl"), 1);
  assert.ok(empty <= 2 * sites.length, `${empty} claims brought nothing`);
});

test("what becomes ready while a resolver has no room is begun, if it does not need it", async (t) => {
  const shop = await Workshop.open(t, {
    rules: { maxPerSite: 4, maxPerResolver: { crawl: 1 } },
    latencyMs: (task) => (task.resolver === null ? 10 : 60_000),
  });
  await shop.run(pages("a.test", 3, { resolver: "crawl" }, "slow-"));
  await shop.run(pages("b.test", 1, { resolver: "crawl" }, "slow-"));
  await shop.clock.until(() => shop.starts.length === 1);
  await shop.clock.advance(1000);
  await shop.run([...pages("a.test", 5, {}, "quick-"), ...pages("b.test", 5, {}, "quick-")]);
  await shop.clock.until(() => shop.keys().filter((key) => key.startsWith("quick-")).length === 10, 20_000);
  assert.equal(shop.keys().filter((key) => key.startsWith("slow-")).length, 1);
  await shop.finish();
  assert.equal(shop.starts.length, 14);
});
