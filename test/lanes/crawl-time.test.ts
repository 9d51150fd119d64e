import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CrawlTime } from "../../src/lanes/handlers/crawl/crawl-time.ts";
import type { RunRecord, Store } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

const MINUTE = 60_000;

/** A crawl that has begun, in a real store, on a clock that stands still. */
async function begin(
  timeLimitMs?: number,
): Promise<{ clock: FakeClock; store: Store; run: RunRecord; time: CrawlTime }> {
  const clock = new FakeClock();
  const store = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
  const { created } = await store.startRun(
    { kind: "crawl", maxAttempts: 1, snapshot: {}, ...(timeLimitMs === undefined ? {} : { timeLimitMs }) },
    [{ key: "a", lane: "site:a", site: "a", resolver: null, url: null, priority: 0, handler: null, payload: null }],
    clock.now(),
  );
  await store.admitCrawls(1, clock.now());
  const run = (await store.run(created.id))!;
  return { clock, store, run, time: new CrawlTime({ store, clock }, run) };
}

describe("the time of a crawl", () => {
  test("passes by a clock that does not jump", async () => {
    const { clock, time } = await begin(10 * MINUTE);
    await clock.advance(MINUTE);
    clock.jump(60 * MINUTE);
    assert.equal(await time.leftMs(1000), 9 * MINUTE);
    clock.jump(-180 * MINUTE);
    assert.equal(await time.leftMs(1000), 9 * MINUTE);
  });

  test("without a limit there is always more", async () => {
    const { clock, time } = await begin();
    await clock.advance(100 * MINUTE);
    assert.equal(await time.leftMs(MINUTE), Number.POSITIVE_INFINITY);
  });

  test("near the end the store is asked whether it was paused meanwhile", async () => {
    const { clock, store, run, time } = await begin(10 * MINUTE);
    await clock.advance(4 * MINUTE);
    await store.passTime(4 * MINUTE, clock.now(), 10);
    await store.changeRun(run.id, "paused", "Run paused", clock.now());
    await clock.advance(60 * MINUTE);
    await store.changeRun(run.id, "running", "Run resumed", clock.now());
    await clock.advance(MINUTE);
    assert.equal(await time.leftMs(1000), 5 * MINUTE);
    await clock.advance(5 * MINUTE);
    assert.ok((await time.leftMs(1000)) <= 0);
  });

  test("a page needs twice what pages take on the average, at most the time limit of a page", async () => {
    const { time } = await begin(10 * MINUTE);
    assert.equal(time.neededMs(20_000), 0, "nothing is known yet");
    for (const ms of [5000, 1000, 1000, 1000]) time.took(ms);
    assert.equal(time.neededMs(20_000), 0, "the first pages say little");
    time.took(2000);
    assert.equal(time.neededMs(20_000), 4000);
    for (let n = 0; n < 50; n += 1) time.took(4000);
    assert.ok(Math.abs(time.neededMs(20_000) - 8000) < 10);
    for (let n = 0; n < 50; n += 1) time.took(19_000);
    assert.equal(time.neededMs(20_000), 20_000);
  });
});
