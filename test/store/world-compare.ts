import assert from "node:assert/strict";
import { NO_TASKS } from "../../src/domain/run/run-end.ts";
import { TASK_STATES } from "../../src/domain/run/states.ts";
import { LANES } from "./world-model.ts";
import type { World } from "./world.ts";

/** The store says what the model says, to whomever one asks. */
export async function compareWorld(world: World): Promise<void> {
  for (const one of world.runs) {
    if (one === null) continue;
    const record = await world.stores.B.run(one.record.id);
    assert.deepEqual([record?.status, record?.generation], [one.status, one.generation]);
    const counts = { ...NO_TASKS };
    for (const row of await world.stores.B.counts(one.record.id)) {
      for (const name of TASK_STATES) counts[name] += row.counts[name];
    }
    assert.deepEqual(counts, world.counts(one));
    const tasks = await world.stores.B.tasks(one.record.id, { limit: 1000 });
    assert.deepEqual(
      tasks.map((task) => [task.key, task.lane, task.state, task.tries, task.waits, task.attempts.length]),
      one.tasks.map((task) => [task.key, LANES[task.lane], task.state, task.tries, task.waits, task.history]),
    );
    for (const task of tasks) {
      assert.equal((await world.any.resultsOf(task.id)).length, task.state === "completed" ? 1 : 0);
    }
    const events = await world.any.events(one.record.id, { limit: 10_000 });
    const ends = events.filter((event) => /^Run (completed|failed|cancelled)/.test(event.message));
    assert.equal(ends.length, one.ends);
  }
}
