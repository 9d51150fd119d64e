import assert from "node:assert/strict";
import { test } from "node:test";
import { OrbError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { seededRandom } from "../../src/base/random.ts";
import { Signal } from "../../src/base/signal.ts";
import type { LaneTicket } from "../../src/engine/port.ts";
import type { LaneRules } from "../../src/lanes/rules.ts";
import { LaneWorker } from "../../src/lanes/worker.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { candidate, LANE, newTask, TTL } from "../contract/store/kit.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { NO_STRAIN } from "./workshop.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

const OWNER = "me";
const NEVER = new AbortController().signal;

const RULES: LaneRules = {
  maxPerSite: 1,
  minDelayMs: 0,
  breaker: { failures: 5, cooldownMs: 1000 },
  retry: { backoff: { baseMs: 1, maxMs: 1 }, maxAttempts: 1, retryAfterMaxMs: 1, rateLimitMaxWaits: 1 },
  maxPerResolver: {},
};

/** A ticket that must be released at once. */
const ticket: LaneTicket = {
  lane: LANE,
  owner: OWNER,
  ttlMs: TTL,
  changed: new Signal(),
  drain: NEVER,
  hurry: NEVER,
  fence: NEVER,
  leaseHolds: () => true,
  yieldWanted: () => true,
  movesOn: () => false,
  offers: () => 0,
  controls: () => 0,
};

for (const [verb, when] of [
  ["releaseLane", "before it was done"],
  ["takeLane", "after it was done"],
  ["endStopped", "before it was done"],
] as const) {
  test(`a lane is free for others soon after ${verb} has failed ${when}, although nobody here gets it again`, async (t) => {
    const clock = new FakeClock();
    const real = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
    t.after(() => real.close());
    await real.takeEngine(candidate(OWNER), TTL);
    await real.startRun({ kind: "page", maxAttempts: 1, snapshot: {} }, [newTask("a")], clock.now());
    let away = true;
    const store = new Proxy(real, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        // Only where something was left by the owner before is there anything to end.
        if (verb === "endStopped" && name === "takeLane")
          return async (...args: Parameters<Store["takeLane"]>) => {
            const grant = await target.takeLane(...args);
            return grant === null ? null : { ...grant, recovered: 1 };
          };
        if ((name !== verb && name !== "leaveLane") || typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          const work = () => (value as (...all: unknown[]) => Promise<unknown>).apply(target, args);
          if (!away) return work();
          if (when === "after it was done" && name === verb) await work();
          throw new OrbError("database_unavailable", "the answer was lost");
        };
      },
    }) as Store;
    const opened: string[] = [];
    const worker = new LaneWorker({
      store,
      clock,
      random: seededRandom(1),
      log: silentLog,
      rules: RULES,
      handlers: () => undefined,
      maxWorkers: 1,
      gauge: { read: () => NO_STRAIN, stop: () => {} },
      probeRoom: async () => {},
      onOpened: (lanes) => opened.push(...lanes),
    });
    t.after(() => worker.stop());
    const working = worker.work(ticket);
    await clock.advance(3000);
    await working;
    assert.equal(await real.takeLane(LANE, OWNER, TTL), null, "it is ours as far as others can see");
    away = false;
    await clock.advance(1000);
    assert.deepEqual(opened, [LANE]);
    assert.ok((await real.takeLane(LANE, OWNER, TTL)) !== null, "it can be taken");
  });
}
