import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { FULL, handClock } from "./bench.ts";
import { type Action, VERDICTS, WorkflowWorld } from "./workflow-world.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

/** Each step waits for some of those before it. */
const graph = fc
  .array(fc.nat({ max: 255 }), { minLength: 1, maxLength: 7 })
  .map((masks) =>
    masks.map((mask, index) => Array.from({ length: index }, (_, one) => one).filter((one) => mask & (1 << one))),
  );

const pick = fc.nat({ max: 50 });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 14, arbitrary: fc.record({ do: fc.constant("take" as const), pick }) },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant("settle" as const),
      pick,
      // Most steps complete, so that stories get far.
      verdict: fc.oneof({ weight: 1, arbitrary: fc.constant("completed" as const) }, fc.constantFrom(...VERDICTS)),
      entries: fc.nat({ max: 4 }),
      stop: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("childEnds" as const), pick }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(1, 50, 100) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("start" as const, "crash" as const, "pause" as const, "resume" as const, "takeUp" as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("recover" as const), from: fc.option(fc.nat({ max: 6 })) }) },
  // Rarely: nothing comes after it.
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("sweep" as const, "sweep" as const, "cancel" as const) }) },
);

test("any story of a workflow goes as a simple model says", { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(graph, fc.array(action, { minLength: 30, maxLength: 70 }), async (steps, story) => {
      const { times, clock } = handClock();
      const connection = preparedInMemory();
      const store = openSqliteStore({ path: ":memory:", clock, connection });
      try {
        const world = new WorkflowWorld(store, times, steps);
        await world.begin();
        await world.act({ do: "start" });
        for (const what of story) {
          await world.act(what);
          await world.compare();
        }
        await world.finish();
        await world.remove();
        for (const table of [
          "runs",
          "tasks",
          "streams",
          "events",
          "steps",
          "step_edges",
          "workflows",
          "lanes WHERE lane GLOB 'step.*'",
        ])
          assert.equal(
            connection.db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"],
            0,
            `${table} is empty`,
          );
      } finally {
        await store.close();
      }
    }),
    { numRuns: FULL ? 200 : 20 },
  );
});
