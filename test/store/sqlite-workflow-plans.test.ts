import assert from "node:assert/strict";
import { test } from "node:test";
import type { Store } from "../../src/store/ports/port.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { laneOfStep } from "../../src/domain/workflow/definition.ts";
import type { WorkflowFilter } from "../../src/store/ports/workflow-port.ts";
import { DONE, FAILED, Kit, newTask } from "../contract/store/kit.ts";
import { newWorkflow, settleStep, takeStep, workOn } from "../contract/store/workflow-kit.ts";
import { handClock } from "./bench.ts";

/** Remembers the statements that it is asked for. */
class Watched extends SqliteConnection {
  readonly asked = new Set<string>();

  override sql(text: string, options?: { lists: boolean }) {
    this.asked.add(text);
    return super.sql(text, options);
  }
}

/** Every method about workflows, in one story: entries of a list, a child run, a failure, a recovery, all lists. */
async function useAll(kit: Kit, store: Store): Promise<void> {
  const template = { name: "t", version: 1 };
  const run = await newWorkflow(kit, { a: [], b: ["a"], list: [], z: ["list"] }, { template });
  const child = { run: { kind: "page", maxAttempts: 1, snapshot: null }, tasks: [newTask("p")] } as const;
  await workOn(kit, run, "a", { kind: "wait", sleep: { memory: null, until: null, child } });
  const held = await takeStep(kit, run, "list");
  await store.addStepItems(held.hold, held.task, { listHash: "h", first: 0, values: [1, 2, 3, 4] }, kit.now);
  await store.noteStepProgress(held.hold, held.task, { fraction: 0.1, message: null }, kit.now);
  await store.skipStepItems(held.hold, held.task, 1, "why", kit.now);
  const items = { concurrency: 2, stopAtFailure: false };
  await settleStep(kit, held, { kind: "wait", sleep: { memory: null, until: kit.now, items } });
  await workOn(kit, run, 2, DONE, 0);
  await workOn(kit, run, "list", FAILED);
  const [step] = await store.steps(run.id);
  const [page] = await store.childRuns(step?.task.id ?? "");
  await store.changeRun(page ?? "", "cancelled", "Run cancelled", kit.now);
  await workOn(kit, run, "a", DONE);
  await workOn(kit, run, "b", DONE);
  await store.recoverWorkflow(run.id, null, kit.now);
  await store.takeUpRecoveries(10, kit.now);
  await store.workflow(run.id);
  await store.stepItems(run.id, 2, { limit: 5 });
  await store.stepByEngineId(laneOfStep(run.id, 2, 0));
  const filters: Partial<WorkflowFilter>[] = [
    {},
    { status: ["running", "recovering"] },
    { status: "recoverable" },
    { template: "t" },
    { jobId: "j" },
    { q: "x" },
  ];
  for (const filter of filters) await store.workflows({ ...filter, limit: 10 });
  for (const same of [{}, { template: "t" }, { jobId: "j" }]) await store.stepDurations({ name: "w", ...same }, 5);
  await store.lastItems(run.id, "a");
  await store.putTemplate("t", {}, 1, kit.now);
  await store.template("t");
  await store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
  await store.sweepEnded(10, kit.now);
  await store.deleteWorkflow(run.id, kit.now);
  while ((await store.removeExpired(2)) > 0);
  assert.equal(await store.workflow(run.id), null);
}

/**
 * What holds one row, what a statement makes for itself, templates, stops and what sites need of
 * each other, of which there are few, the monitored jobs, and what is being removed.
 */
const SMALL =
  /^SCAN (?:control|engine|json_each|behind|b|past|s USING INDEX streams_open|lanes USING INDEX lanes_owned|runs USING INDEX runs_removing|value|templates|monitors|task_stops|site_deps|d USING COVERING INDEX site_deps_by_dependency|w\b|CONSTANT ROW|\d+ CONSTANT|\(subquery)/;

test("SQLite: no method about workflows looks at all runs, steps, tasks or lanes", async () => {
  const connection = new Watched(":memory:");
  const { times, clock } = handClock();
  const store = openSqliteStore({ path: ":memory:", clock, connection });
  try {
    await useAll(new Kit(store, { clock: times, open: async () => store, close: async () => {} }), store);
    const read = [...connection.asked].filter((text) => /^\s*(?:SELECT|UPDATE|DELETE|INSERT|WITH)/.test(text));
    assert.ok(read.length > 50, `${read.length} statements`);
    for (const text of read) {
      const numbered = Array.from(text.matchAll(/\?(\d+)/g), ([, number]) => Number(number));
      const values = numbered.length > 0 ? Math.max(...numbered) : text.split("?").length - 1;
      const plan = connection.db
        .prepare(`EXPLAIN QUERY PLAN ${text}`)
        .all(...Array.from({ length: values }, () => 1))
        .map((step) => String(step["detail"]));
      const scans = plan.filter((step) => step.startsWith("SCAN") && !SMALL.test(step));
      assert.deepEqual(scans, [], `${text}\n${plan.join("\n")}`);
    }
  } finally {
    await store.close();
  }
});
