import assert from "node:assert/strict";
import { failure } from "../../../src/domain/run/failure.ts";
import type { DutiesDue } from "../../../src/store/ports/duty-port.ts";
import { DONE, type Kit, newTask, type Scenario } from "./kit.ts";

async function due(kit: Kit): Promise<string[]> {
  const { lastEvent: _, ...flags } = await kit.store.dutiesDue(kit.now);
  return Object.entries(flags).flatMap(([name, is]) => (is ? [name] : []));
}

const job = (nextAt: number | null) => ({
  name: null,
  kind: "page" as const,
  url: "https://a.example/",
  site: "a.example",
  tags: [],
  recipe: {},
  nextAt,
  nextOccurrenceAt: nextAt,
});

export function dutyScenarios(scenario: Scenario): void {
  scenario("one look tells which duties have something to do", async (kit) => {
    const { store } = kit;
    assert.deepEqual(await due(kit), []);
    const empty = (await store.dutiesDue(kit.now)).lastEvent;

    await store.createJob(job(kit.now + 10), kit.now);
    await store.createJob(job(null), kit.now);
    assert.deepEqual(await due(kit), []);
    kit.pass(10);
    assert.deepEqual(await due(kit), ["jobs"] satisfies (keyof DutiesDue)[]);

    const crawl = { kind: "crawl", maxAttempts: 3, snapshot: {}, timeLimitMs: 1000 } as const;
    const { created: run } = await store.startRun(crawl, [newTask("a")], kit.now);
    assert.deepEqual(await due(kit), ["waitingCrawls", "jobs"]);
    await store.admitCrawls(1, kit.now);
    assert.deepEqual(await due(kit), ["timedRuns", "jobs"]);
    const { lastEvent } = await store.dutiesDue(kit.now);
    assert.notEqual(lastEvent, empty);
    assert.equal(lastEvent, (await store.feed({ limit: 0 })).last);

    await store.endByTime(run.id, kit.now);
    assert.deepEqual(await due(kit), ["jobs", "endedRuns"]);
    await store.sweepEnded(10, kit.now);
    assert.deepEqual(await due(kit), ["jobs"]);

    const alert = { kind: "run_failed", subject: "s", message: "m", detail: null, key: "k" } as const;
    await store.raiseAlerts([alert], { deliver: true, firstTryAt: kit.now + 5 }, kit.now);
    assert.deepEqual(await due(kit), ["jobs"]);
    kit.pass(5);
    assert.deepEqual(await due(kit), ["jobs", "alerts"]);
  });

  scenario("runs that wait for proxies, or for the one before them, are somebody's duty", async (kit) => {
    const { store } = kit;
    const hold = { since: kit.now, until: kit.now + 60_000, message: "it waits" };
    const first = await kit.page("a", { hold: { ...hold, reason: "proxies" } });
    assert.deepEqual(await due(kit), ["proxies"]);
    await store.failHeldRun(first.id, "proxies", failure("no_proxies", "none came"), kit.now);
    await store.sweepEnded(10, kit.now);
    assert.deepEqual(await due(kit), []);
    const second = await kit.page("b", { hold: { ...hold, reason: "previous_run" } });
    assert.deepEqual(await due(kit), ["queuedRuns"]);
    await store.releaseRuns([second.id], "previous_run", { level: "info", message: "it goes on" }, kit.now);
    assert.deepEqual(await due(kit), []);
    await kit.work(await kit.take("w"), DONE);
  });
}
