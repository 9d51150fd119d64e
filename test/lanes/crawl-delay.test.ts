import assert from "node:assert/strict";
import { test } from "node:test";
import type { RobotsRules } from "../../src/pages/obey-robots.ts";
import { pages, type Start, Workshop } from "./workshop.ts";

/** A site whose robots.txt takes a while to come, and then asks for a delay. */
function asking(shop: () => Workshop, delay: () => number): RobotsRules {
  let known: Promise<number> | null = null;
  return {
    check: async () => {
      known ??= new Promise((resolve) => shop().clock.after(200, () => resolve(0)));
      await known;
      return delay();
    },
    mayFollow: () => true,
  };
}

function gapsOf(starts: readonly Start[]): number[] {
  return starts.slice(1).map(({ at }, index) => at - (starts[index]?.at ?? 0));
}

for (const delayMs of [300, 5000])
  test(`pages that wait for the first robots.txt together are fetched ${delayMs} ms apart, the first of them too`, async (t) => {
    const shop: Workshop = await Workshop.open(t, {
      robots: asking(
        () => shop,
        () => delayMs,
      ),
      latencyMs: 20,
    });
    const begun = shop.clock.monotonic();
    const run = await shop.run(pages("a.example", 8));
    await shop.finish();
    assert.equal(shop.starts.length, 8, "each once");
    assert.ok((shop.starts[0]?.at ?? 0) - begun >= delayMs, "robots.txt itself was a request");
    for (const gap of gapsOf(shop.starts)) assert.ok(gap >= delayMs, `${gap} ms apart`);
    for (let n = 0; n < 8; n += 1)
      assert.equal((await shop.task(run, `a.example-${n}`)).tries, 1, "no attempt is lost");
  });

test("a delay that robots.txt asks for no more is not kept any longer", async (t) => {
  let delayMs = 2000;
  const shop: Workshop = await Workshop.open(t, {
    robots: asking(
      () => shop,
      () => delayMs,
    ),
    latencyMs: 20,
  });
  await shop.run(pages("a.example", 20));
  await shop.clock.until(() => shop.starts.length === 4);
  delayMs = 0;
  const at = shop.clock.monotonic();
  await shop.finish();
  assert.ok((shop.starts.at(-1)?.at ?? 0) - at < 10_000);
});

test("other sites go on at their own pace", async (t) => {
  const robots: RobotsRules = {
    check: async (url) => (url.includes("slow.example") ? 10_000 : 0),
    mayFollow: () => true,
  };
  const shop = await Workshop.open(t, { robots });
  await shop.run([...pages("slow.example", 5), ...pages("fast.example", 50)]);
  await shop.clock.until(() => shop.starts.filter(({ site }) => site === "fast.example").length === 50, 5000);
  await shop.finish();
  for (const gap of gapsOf(shop.starts.filter(({ site }) => site === "slow.example"))) assert.ok(gap >= 10_000);
});

test("a site that is paused while its robots.txt is asked for gets no request for a page", async (t) => {
  const asked: (() => void)[] = [];
  const robots = { check: () => new Promise<number>((resolve) => asked.push(() => resolve(0))), mayFollow: () => true };
  const shop = await Workshop.open(t, { robots });
  const run = await shop.run(pages("a.example", 3));
  await shop.clock.until(() => asked.length === 3);
  await shop.store.setSite("a.example", { paused: true });
  shop.engine.controlChanged();
  await shop.clock.advance(1000);
  for (const answer of asked.splice(0)) answer();
  await shop.clock.advance(1000);
  assert.deepEqual(shop.starts, []);
  assert.deepEqual((await shop.task(run, "a.example-0")).attempts, [], "and nothing is counted against the pages");
  await shop.store.setSite("a.example", { paused: false });
  shop.engine.controlChanged();
  await shop.clock.until(() => asked.length === 3);
  for (const answer of asked.splice(0)) answer();
  await shop.finish();
  assert.equal(shop.starts.length, 3);
});
