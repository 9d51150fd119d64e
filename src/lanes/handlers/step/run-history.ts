import type { Store } from "../../../store/ports/port.ts";
import type { RunHistory } from "../../../workflows/step-kind.ts";
import type { StepRun } from "./step-runs.ts";

const PAGE_SIZE = 500;
const DROP_BATCH = 1000;

/** Files of earlier steps of a run. */
export function runHistory(store: Store, run: StepRun): RunHistory {
  return {
    filesOf: (name, which) => filesOf(store, run, name, which),
    async drop(ids) {
      const dropped = { rows: 0, bytes: 0 };
      for (let start = 0; start < ids.length; start += DROP_BATCH) {
        const { rows, bytes } = await store.dropFiles(ids.slice(start, start + DROP_BATCH));
        dropped.rows += rows;
        dropped.bytes += bytes;
      }
      return dropped;
    },
  };
}

async function* filesOf(
  store: Store,
  run: StepRun,
  name: string,
  which: "downloads" | "made",
): ReturnType<RunHistory["filesOf"]> {
  const index = run.definition.steps.findIndex((step) => step.name === name);
  const step = index === -1 ? undefined : (await store.steps(run.id))[index];
  if (step === undefined) return;
  for await (const task of tasksOf(store, run.id, index, step.task.id)) {
    if (which === "made") {
      yield* artifactsOf(store, task);
      continue;
    }
    for (const child of await store.childRuns(task))
      for await (const download of childTasks(store, child)) yield* artifactsOf(store, download);
  }
}

/** The step's own task, and those of its list entries. */
async function* tasksOf(store: Store, runId: string, step: number, stepTask: string): AsyncGenerator<string> {
  yield stepTask;
  for (let after: string | undefined; ;) {
    const page = await store.stepItems(runId, step, { limit: PAGE_SIZE, ...(after === undefined ? {} : { after }) });
    for (const { id } of page) yield id;
    after = page.at(-1)?.id;
    if (page.length < PAGE_SIZE) return;
  }
}

async function* childTasks(store: Store, runId: string): AsyncGenerator<string> {
  for (let after: string | undefined; ;) {
    const page = await store.tasks(runId, { limit: PAGE_SIZE, ...(after === undefined ? {} : { after }) });
    for (const { id } of page) yield id;
    after = page.at(-1)?.id;
    if (page.length < PAGE_SIZE) return;
  }
}

async function* artifactsOf(store: Store, task: string): ReturnType<RunHistory["filesOf"]> {
  for (const { id, hash, role } of await store.artifactsOf(task)) if (role === "file") yield { id, hash };
}
