/** Invariants of workflows. */
import { TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import { STEP_LANES } from "../../../domain/workflow/definition.ts";
import { all, type Check } from "../ops/audit-check.ts";
import { STATE } from "../kernel/context.ts";
import { readSteps } from "./workflow-recover.ts";

const ended = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");

/** The step is queued or running, or a time, a child run or an item will wake it. */
const WILL_PROGRESS = `(t.state IN (${STATE.queued}, ${STATE.running}) OR (t.state = ${STATE.retrying}
  AND CASE coalesce(json_extract(t.outcome, '$.waiting.for'), 'time')
    WHEN 'run' THEN EXISTS (SELECT 1 FROM runs c WHERE c.id = json_extract(t.outcome, '$.waiting.runId') AND c.finished_at IS NULL)
    WHEN 'items' THEN p.items_in_flight > 0 ELSE TRUE END))`;

export const WORKFLOW_CHECKS: readonly Check[] = [
  {
    name: "dependency counters of steps are correct",
    find: (context) =>
      all<{ n: number; id: string }>(context, "SELECT r.n, r.id FROM workflows w JOIN runs r ON r.n = w.run").flatMap(
        ({ n, id }) => {
          const steps = readSteps(context, n);
          return steps.flatMap(({ row, dependencies }) => {
            const real = [...new Set(dependencies)].filter((index) => steps[index]?.endedWell !== true).length;
            return row.open_deps === real
              ? []
              : [`step ${row.name} of run ${id} says it waits for ${row.open_deps}, there are ${real}`];
          });
        },
      ),
  },
  {
    name: "every running workflow has an active step",
    find: (context) =>
      all<{ id: string }>(
        context,
        `SELECT r.id FROM runs r WHERE r.kind = 'workflow' AND r.status = 'running' AND NOT EXISTS
           (SELECT 1 FROM steps p JOIN tasks t ON t.id = p.task WHERE p.run = r.n AND ${WILL_PROGRESS})`,
      ).map(({ id }) => `run ${id} is running, but none of its steps is active`),
  },
  {
    name: "no step sleeps for something that has ended",
    find: (context) =>
      all<{ key: string; id: string }>(
        context,
        `SELECT t.key, r.id FROM runs r JOIN streams s ON s.run = r.n AND s.retrying > 0
           JOIN tasks t ON t.stream = s.id AND t.state = ${STATE.retrying} LEFT JOIN steps p ON p.task = t.id
         WHERE r.kind = 'workflow' AND r.status NOT IN (${ended}) AND NOT ${WILL_PROGRESS}`,
      ).map(({ key, id }) => `${key} of run ${id} sleeps, and nothing will wake it`),
  },
  {
    name: "steps that can start are queued",
    find: (context) =>
      all<{ name: string; id: string }>(
        context,
        `SELECT p.name, r.id FROM runs r JOIN steps p ON p.run = r.n JOIN tasks t ON t.id = p.task
         WHERE r.status = 'running' AND p.open_deps = 0 AND t.state = ${STATE.pending}`,
      ).map(({ name, id }) => `step ${name} of run ${id} waits for nothing, but is not queued`),
  },
  {
    name: "entry counters of steps are correct",
    find: (context) =>
      all<{ name: string; id: string; said: number; real: number }>(
        context,
        `SELECT * FROM (SELECT p.name, r.id, p.items_in_flight AS said, (SELECT count(*) FROM tasks t WHERE t.item_of = p.task
             AND t.state IN (${STATE.queued}, ${STATE.running}, ${STATE.retrying})) AS real
         FROM steps p JOIN runs r ON r.n = p.run WHERE r.status <> 'cancelled') AS compared WHERE said <> real`,
      ).map((row) => `step ${row.name} of run ${row.id} says ${row.said} entries are in flight, there are ${row.real}`),
  },
  {
    name: "no child run is active without the step that started it",
    find: (context) =>
      all<{ id: string }>(
        context,
        `SELECT c.id FROM runs c WHERE c.parent_run IS NOT NULL AND c.finished_at IS NULL AND NOT EXISTS
           (SELECT 1 FROM runs w WHERE w.n = c.parent_run AND w.status NOT IN (${ended}))`,
      ).map(({ id }) => `run ${id} is active, but the workflow that started it has ended`),
  },
  {
    name: "nothing is left of deleted workflows",
    find: (context) => [
      ...all<{ lane: string }>(
        context,
        `SELECT l.lane FROM lanes l WHERE substr(l.lane, 1, ${STEP_LANES.length}) = '${STEP_LANES}' AND NOT EXISTS (SELECT 1 FROM streams s WHERE s.lane = l.id)`,
      ).map(({ lane }) => `the lane ${lane} belongs to no run`),
      ...all<{ id: string }>(
        context,
        `SELECT c.id FROM runs c WHERE c.parent_run IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs w WHERE w.n = c.parent_run)`,
      ).map(({ id }) => `run ${id} was started by a workflow that does not exist`),
    ],
  },
];
