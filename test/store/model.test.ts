import { test } from "node:test";
import fc from "../support/properties.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { TTL } from "../contract/store/kit.ts";
import { FULL, handClock } from "./bench.ts";
import { compareWorld } from "./world-compare.ts";
import { type Action, LANES, OWNERS, RUNS, VERDICTS } from "./world-model.ts";
import { World } from "./world.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

const owner = fc.constantFrom(...OWNERS);
const lane = fc.nat({ max: LANES.length - 1 });
const run = fc.nat({ max: RUNS.length - 1 });
/** Which of the grants or claims that there are by then. */
const pick = fc.nat({ max: 30 });

// Weights lean towards the middle of the story: without work in flight most other steps say little.
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("openRun" as const), run }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("enqueue" as const),
      run,
      lane,
      keys: fc.array(fc.nat({ max: 12 }), { maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("takeEngine" as const), owner }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("takeLane" as const), owner, lane }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("releaseLane" as const), owner, lane }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant("claim" as const), pick, limit: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant("settle" as const),
      pick,
      take: fc.integer({ min: 1, max: 4 }),
      verdict: fc.constantFrom(...VERDICTS),
      to: lane,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("heartbeat" as const), owner }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(1, 1000, TTL - 1, TTL + 1) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("pause" as const, "resume" as const, "resume" as const), run }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("cancel" as const, "recover" as const), run }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("retryFailed" as const),
      run,
      lane: fc.option(lane),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
);

test("any story of runs, lanes and owners ends as a simple model says", { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 60, maxLength: 120 }), async (story) => {
      const { times, clock } = handClock();
      // One database in memory behind two hands; what differs between connections is the contract's business.
      const store = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
      try {
        const world = new World({ A: store, B: store }, times);
        for (const index of RUNS) {
          await world.step({ do: "openRun", run: index });
          await world.step({ do: "enqueue", run: index, lane: index, keys: [0, 1, 2] });
        }
        for (const what of story) {
          // Whoever is free to be the engine takes it, so that most of the story happens under one.
          if (what.do === "takeLane") await world.step({ do: "takeEngine", owner: what.owner });
          await world.step(what);
        }
        await compareWorld(world);
        await world.finish();
      } finally {
        await store.close();
      }
    }),
    { numRuns: FULL ? 5000 : 60 },
  );
});
