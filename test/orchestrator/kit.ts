import type { TestContext } from "node:test";
import { createSeal } from "../../src/base/seal.ts";
import { parseAddressPolicy } from "../../src/net/address.ts";
import type { OrchestratorDeps } from "../../src/orchestrator/deps.ts";
import type { QueueDeps } from "../../src/orchestrator/queue/enqueue.ts";
import { QUEUE_ALIAS } from "../../src/orchestrator/queue/queue-run.ts";
import type { RunSiteDeps } from "../../src/orchestrator/runs/sites.ts";
import type { SettledTask } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { attempt, candidate, TTL } from "../contract/store/kit.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

export interface TestOrchestrator extends QueueDeps, RunSiteDeps {
  clock: FakeClock;
  /** Lanes that the engine was woken for, in order. */
  woken: (string[] | null)[];
  /** Ends everything that is ready in a lane as the function says. */
  work(lane: string, verdict: (key: string) => SettledTask["verdict"]): Promise<void>;
}

/** The dependencies of use cases: a real store in memory, and an engine that only records what it is sent. */
export async function openOrchestrator(t: TestContext): Promise<TestOrchestrator> {
  const clock = new FakeClock();
  const store = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
  t.after(() => store.close());
  const woken: (string[] | null)[] = [];
  return {
    store,
    clock,
    woken,
    seal: createSeal("a key that only tests know"),
    policy: parseAddressPolicy(false),
    siteDefaults: { maxPerSite: 4, minDelayMs: 0 },
    wake: async (lanes) => void woken.push(lanes),
    work: async (lane, verdict) => {
      await store.takeEngine(candidate("worker"), TTL);
      const grant = (await store.takeLane(lane, "worker", TTL))!;
      const claim = (await store.claim(grant, { limit: 10_000 }, clock.now()))!;
      const tasks = claim.tasks.map((task) => ({ task, verdict: verdict(task.key), attempt: attempt(1) }));
      await store.settle([{ hold: grant, tasks }], clock.now());
      await store.releaseLane(grant);
    },
  };
}

export async function queueKeys({ store }: OrchestratorDeps): Promise<string[]> {
  const run = await store.runByAlias(QUEUE_ALIAS);
  if (run === null) return [];
  return (await store.tasks(run.id, { limit: 100_000 })).map((task) => task.key);
}
