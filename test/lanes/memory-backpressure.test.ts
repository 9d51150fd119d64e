import assert from "node:assert/strict";
import { test } from "node:test";
import { OrbError } from "../../src/base/errors.ts";
import { pages, Workshop } from "./workshop.ts";

test("a process with too little memory does one task at a time, over all sites, and many again when it has enough", async (t) => {
  const long = 60_000;
  const shop = await Workshop.open(t, {
    rules: { maxPerSite: 2 },
    latencyMs: ({ key }) => (key === "b.test-last" ? long : 10),
  });
  const inFlight = () => [...shop.inFlight.values()].reduce((sum, n) => sum + n, 0);
  shop.worker.short(new OrbError("memory_full", "120 of 100 MB"));
  await shop.run([...pages("a.test", 4), ...pages("b.test", 4)]);
  let most = 0;
  while (shop.starts.length < 8) {
    await shop.clock.advance(1);
    most = Math.max(most, inFlight());
  }
  assert.equal(most, 1);
  shop.worker.short(new OrbError("memory_full", "130 of 100 MB"));
  assert.equal(shop.worker.paused, "130 of 100 MB", "as it is now");
  await shop.finish();
  const last = { key: "b.test-last", url: "http://b.test/last" };
  await shop.run([last]);
  await shop.clock.advance(50);
  await shop.run(pages("c.test", 4));
  await shop.clock.advance(1000);
  assert.equal(inFlight(), 1, "c.test waits for the long task of b.test");
  shop.worker.short(null);
  await shop.clock.advance(5);
  assert.deepEqual([shop.inFlight.get("c.test"), shop.worker.paused], [2, null]);
  await shop.finish();
  assert.deepEqual((await shop.store.audit()).findings, []);
});
