import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { systemRandom } from "../../src/base/random.ts";
import { createSeal } from "../../src/base/seal.ts";
import { PUBLIC_ONLY } from "../../src/net/address.ts";
import { startCrawl } from "../../src/orchestrator/crawls/start.ts";
import { keepCrawls } from "../../src/supervisor/duties/keep-crawls.ts";
import { openOrchestrator } from "../orchestrator/kit.ts";
import { PROXY_RULES } from "../support/proxy-rules.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Running time is counted once a second. */
const STEP = 1000;

async function open(t: TestContext) {
  const orchestrator = await openOrchestrator(t);
  const deps = {
    ...orchestrator,
    random: systemRandom,
    seal: createSeal("a key that only tests know"),
    policy: PUBLIC_ONLY,
    defaultMaxAttempts: 3,
    siteDefaults: { maxPerSite: 4, minDelayMs: 0 },
    proxyRules: PROXY_RULES,
    maxConcurrentCrawls: 5,
    respectRobots: true,
    minScheduleMs: 1000,
    extractors: { llm: false, named: async () => [] },
    stepKinds: async () => ({ find: () => undefined, all: () => [] }),
    retention: { temporaryMs: HOUR, keepRuns: 0, keepDays: 0 },
    diskBudget: { bytes: 0, action: "warn" as const },
  };
  return {
    ...deps,
    begin: async (timeout_minutes: number, n = 0) =>
      (await startCrawl(deps, { url: `https://a.example/${n}`, timeout_minutes })).id,
    status: async (id: string) => (await orchestrator.store.run(id))?.status,
    /** A process that does its duty for so long. */
    async work(ms: number, duty = keepCrawls(deps)) {
      await duty.run(new AbortController().signal);
      for (let passed = 0; passed < ms; passed += STEP) {
        await orchestrator.clock.advance(STEP);
        await duty.run(new AbortController().signal);
      }
    },
  };
}

describe("the time that crawls have", () => {
  test("is over when they were worked on for so long, and not a moment before", async (t) => {
    const harness = await open(t);
    const id = await harness.begin(2);
    await harness.work(2 * MINUTE - STEP);
    assert.equal(await harness.status(id), "running");
    await harness.work(STEP);
    const run = await harness.store.run(id);
    assert.deepEqual([run?.status, run?.facts.end_reason], ["failed", "limit_time"], "it got no page");
    const { totals } = await harness.store.overview(id, 0);
    assert.deepEqual([totals.queued, totals.cancelled], [0, 1]);
  });

  test("does not pass while no process is there", async (t) => {
    const harness = await open(t);
    const id = await harness.begin(2);
    await harness.work(MINUTE);
    await harness.clock.advance(24 * HOUR);
    await harness.work(MINUTE - STEP);
    assert.equal(await harness.status(id), "running");
    await harness.work(STEP);
    assert.equal(await harness.status(id), "failed");
  });

  test("is the same whatever the clock is set to", async (t) => {
    const harness = await open(t);
    const id = await harness.begin(2);
    const duty = keepCrawls(harness);
    await harness.work(MINUTE, duty);
    harness.clock.jump(HOUR);
    await harness.work(20_000, duty);
    harness.clock.jump(-25 * HOUR);
    await harness.work(20_000, duty);
    assert.equal(await harness.status(id), "running");
    // Each time the clock was set, the step in which that was seen may be lost.
    await harness.work(20_000 + 2 * STEP, duty);
    assert.equal(await harness.status(id), "failed");
  });

  test("five are worked on at once; the sixth begins when one ends or pauses", async (t) => {
    const harness = await open(t);
    const ids: string[] = [];
    for (let n = 0; n < 7; n += 1) ids.push(await harness.begin(10, n));
    const waiting = async () => {
      const states = await Promise.all(ids.map((id) => harness.status(id)));
      return states.flatMap((state, index) => (state === "queued" ? [index] : []));
    };
    assert.deepEqual(await waiting(), [5, 6]);
    await harness.store.changeRun(ids[2]!, "paused", "Run paused", harness.clock.now());
    await harness.work(STEP);
    assert.deepEqual(await waiting(), [6]);
    await harness.store.changeRun(ids[0]!, "cancelled", "Run cancelled", harness.clock.now());
    await harness.work(STEP);
    assert.deepEqual(await waiting(), []);
  });
});
