/** Workflows of so many steps that one transaction would keep others waiting. */
import assert from "node:assert/strict";
import type { Kit, Scenario } from "./kit.ts";
import { newWorkflow, sketchWorkflow, type StepSketch, stateOfSteps, workOn } from "./workflow-kit.ts";
import { DONE } from "./kit.ts";

/** Each waits for up to twenty before it. */
export function largeSketch(count: number): StepSketch {
  const names = Array.from({ length: count }, (_, n) => `s${n}`);
  return Object.fromEntries(names.map((name, n) => [name, names.slice(Math.max(0, n - 20), n)]));
}

async function sound(kit: Kit): Promise<void> {
  assert.deepEqual((await kit.store.audit()).findings, []);
}

export function largeWorkflowScenarios(scenario: Scenario): void {
  scenario("appear as a whole, and their steps follow each other", async (kit) => {
    const run = await newWorkflow(kit, largeSketch(130));
    assert.equal(run.status, "running");
    const record = await kit.store.workflow(run.id);
    assert.equal(record?.totalSteps, 130);
    const states = await stateOfSteps(kit, run);
    assert.deepEqual(
      Object.entries(states).map(([name, state]) => `${name} ${state}`),
      Array.from({ length: 130 }, (_, n) => `s${n} ${n === 0 ? "queued" : "pending"}`),
    );
    await sound(kit);
    await workOn(kit, run, "s0", DONE);
    assert.equal((await stateOfSteps(kit, run))["s1"], "queued");
    const { events } = { events: await kit.store.events(run.id, { limit: 10 }) };
    assert.match(JSON.stringify(events), /Run created/);
    await sound(kit);
  });

  scenario("are made once per key, also by two calls at once", async (kit) => {
    const once = { key: "k", fingerprint: "f" };
    const make = () =>
      kit.store.startRun(
        {
          kind: "workflow",
          name: "w",
          maxAttempts: null,
          snapshot: null,
          workflow: sketchWorkflow(largeSketch(120)),
        },
        [],
        kit.now,
        once,
      );
    const [one, other] = await Promise.all([make(), make()]);
    assert.equal(one.created.id, other.created.id);
    assert.equal((await make()).replayed, true);
    assert.deepEqual(
      (await kit.store.runs({ limit: 10 })).map(({ id }) => id),
      [one.created.id],
    );
    while ((await kit.store.removeExpired(500)) > 0);
    await sound(kit);
  });
}
