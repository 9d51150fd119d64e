import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TASK_STATES } from "../../src/domain/run/states.ts";
import { laneOfStep } from "../../src/domain/workflow/definition.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { DONE, FAILED, Kit, newTask, type Verdict } from "../contract/store/kit.ts";
import { newWorkflow, settleStep, takeStep, workOn } from "../contract/store/workflow-kit.ts";
import { sqliteHarness } from "./bench.ts";

const state = (name: (typeof TASK_STATES)[number]) => TASK_STATES.indexOf(name);

/** Each breaks a sound database by hand, and says what the audit must find. */
const DAMAGE: readonly { what: string; sql: string; says: RegExp }[] = [
  {
    what: "a step that waits for more than there is",
    sql: "UPDATE steps SET open_deps = 2 WHERE name = 'b'",
    says: /step b of run \S+ says it waits for 2, there are 1/,
  },
  {
    what: "a step that could begin and was left behind",
    sql: "UPDATE steps SET open_deps = 0 WHERE name = 'b'",
    says: /step b of run \S+ waits for nothing, but is not queued/,
  },
  {
    what: "a step that sleeps for a run that has ended",
    sql: "UPDATE runs SET status = 'failed', finished_at = 1 WHERE kind = 'page'",
    says: /step:a of run \S+ sleeps, and nothing will wake it/,
  },
  {
    what: "a step that sleeps for a run that is gone",
    sql: "DELETE FROM runs WHERE kind = 'page'",
    says: /step:a of run \S+ sleeps, and nothing will wake it/,
  },
  {
    what: "a step that sleeps for entries of which none is in hand",
    sql: `UPDATE steps SET items_in_flight = 0 WHERE name = 'list'`,
    says: /step:list of run \S+ sleeps, and nothing will wake it/,
  },
  {
    what: "a wrong number of entries in hand",
    sql: `UPDATE steps SET items_in_flight = 5 WHERE name = 'list'`,
    says: /step list of run \S+ says 5 entries are in flight, there are 1/,
  },
  {
    what: "a running workflow of which nothing goes on",
    sql: `UPDATE tasks SET state = ${state("cancelled")} WHERE key IN ('step:a', 'step:list')`,
    says: /is running, but none of its steps is active/,
  },
  {
    what: "a child run that has outlived its workflow",
    sql: "UPDATE runs SET status = 'cancelled', finished_at = 1 WHERE kind = 'workflow'",
    says: /is active, but the workflow that started it has ended/,
  },
  {
    what: "steps of a run that was removed",
    sql: "DELETE FROM runs WHERE kind = 'workflow'",
    says: /steps of run number 1, which does not exist/,
  },
  {
    what: "a run whose workflow was removed",
    sql: "DELETE FROM runs WHERE kind = 'workflow'",
    says: /run \S+ was started by a workflow that does not exist/,
  },
  {
    what: "a lane of a step that was removed",
    sql: "DELETE FROM streams WHERE run = 1",
    says: /the lane step\.\S+ belongs to no run/,
  },
];

/** b waits for a, which sleeps for a child run; a list has one entry in hand and one that waits. */
async function sleeping(kit: Kit): Promise<void> {
  const run = await newWorkflow(kit, { a: [], b: ["a"], list: [] });
  const child = { run: { kind: "page", maxAttempts: 1, snapshot: null }, tasks: [newTask("p")] } as const;
  await workOn(kit, run, "a", { kind: "wait", sleep: { memory: null, until: null, child } });
  const held = await takeStep(kit, run, "list");
  await kit.store.addStepItems(held.hold, held.task, { listHash: "h", first: 0, values: [1, 2, 3] }, kit.now);
  const items = { concurrency: 1, stopAtFailure: false };
  const sleep: Verdict = { kind: "wait", sleep: { memory: null, until: null, items } };
  await settleStep(kit, held, sleep);
  await workOn(kit, run, 2, DONE, 0);
}

describe("SQLite: the audit of workflows finds", () => {
  for (const { what, sql, says } of DAMAGE) {
    test(what, async () => {
      const harness = await sqliteHarness();
      try {
        const kit = new Kit(await harness.open(), harness);
        await sleeping(kit);
        await kit.expectClean();
        const hand = new SqliteConnection(harness.path);
        hand.db.exec(sql);
        hand.close();
        const { findings } = await kit.store.audit();
        assert.ok(
          findings.some((finding) => says.test(finding.what)),
          JSON.stringify(findings),
        );
      } finally {
        await harness.close();
      }
    });
  }
});

test("a recovery that cannot be taken up keeps no other from going on", async () => {
  const harness = await sqliteHarness();
  try {
    const kit = new Kit(await harness.open(), harness);
    const runs = [await newWorkflow(kit, { a: [] }), await newWorkflow(kit, { a: [] })];
    for (const run of runs) {
      await workOn(kit, run, "a", FAILED);
      await kit.store.recoverWorkflow(run.id, null, kit.now);
    }
    const connection = new SqliteConnection(harness.path);
    connection.db.exec("UPDATE steps SET dependencies = 'not a list' WHERE run = 1");
    connection.close();
    const { lanes, more, stuck } = await kit.store.takeUpRecoveries(100, kit.now);
    assert.deepEqual([lanes, more, stuck?.length], [[laneOfStep(runs[1]!.id, 0)], false, 1]);
    assert.match(stuck?.[0] ?? "", new RegExp(`workflow ${runs[0]!.id}: `));
  } finally {
    await harness.close();
  }
});
