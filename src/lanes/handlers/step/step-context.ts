import type { Log } from "../../../base/log.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { StepPayload } from "../../../domain/workflow/definition.ts";
import { BufferSink } from "../../../net/buffer-sink.ts";
import type { HttpClient } from "../../../net/http-client.ts";
import type { ClaimedTask } from "../../../store/ports/port.ts";
import { readItems } from "../../../workflows/items/items-file.ts";
import type { Item, StepContext, StepFiles, StepHttp } from "../../../workflows/step-kind.ts";
import type { Children } from "./step-children.ts";
import type { StepDeps } from "./step-deps.ts";
import type { StepMemory } from "./step-memory.ts";
import { runHistory } from "./run-history.ts";
import type { StepProgress } from "./step-progress.ts";
import type { Before, StepRun } from "./step-runs.ts";

/** One attempt at a step, or at one entry of its list. */
export interface StepTry {
  task: ClaimedTask;
  run: StepRun;
  payload: StepPayload;
  before: Before;
  memory: StepMemory | null;
  children: Children;
}

/** The context that a step kind runs with. */
export function stepContext(
  deps: StepDeps,
  { task, run, payload, before, memory, children }: StepTry,
  more: { signal: AbortSignal; log: Log; files: StepFiles; progress: StepProgress },
): StepContext {
  const { signal, log, files, progress } = more;
  const step = run.step(payload.step);
  return {
    signal,
    clock: deps.clock,
    random: deps.random,
    log: log.with({ run: run.id, step: step.name }),
    run: { id: run.id, name: run.name, jobId: run.jobId },
    step: { name: step.name, index: payload.step, attempt: task.tries + 1 },
    item: payload.item?.value,
    memory: memory?.kind ?? null,
    child: memory === null ? null : (children.ended.at(-1) ?? null),
    children: children.ended,
    outputs: before.outputs,
    inputs: () => inputsOf(files, run, before, payload.step),
    itemsOf: (name) => itemsOf(files, run, before, name),
    itemsOfLastRun: async (name) => {
      const file = await deps.store.lastItems(run.id, name);
      const gone = file !== null && file.hash !== null && !(await files.has(file.hash));
      return file === null || gone ? null : { [Symbol.asyncIterator]: () => readItems(files, file) };
    },
    robotsOf: (origin) => deps.store.robots(origin),
    past: runHistory(deps.store, run),
    files,
    http: stepHttp(deps.http, signal),
    progress: (done, total, message) => progress.report(done, total, message),
  };
}

/** A skipped step forwards its inputs; an item that arrives on two paths is forwarded once. */
async function* inputsOf(
  files: StepFiles,
  run: StepRun,
  { results }: Before,
  index: number,
  seen: Set<number> = new Set(),
): AsyncGenerator<Item> {
  for (const dependency of run.step(index).dependencies) {
    if (seen.has(dependency)) continue;
    seen.add(dependency);
    const result = results.get(dependency) ?? null;
    if (result === null) yield* inputsOf(files, run, { outputs: {}, results }, dependency, seen);
    else if (result.items !== null) yield* readItems(files, result.items);
  }
}

export async function* itemsOf(files: StepFiles, run: StepRun, before: Before, name: string): AsyncGenerator<Item> {
  const index = run.definition.steps.findIndex((step) => step.name === name);
  const result = before.results.get(index);
  if (result === undefined) throw new Error(`this step does not depend on ${name}`);
  if (result === null) yield* inputsOf(files, run, before, index);
  else if (result.items !== null) yield* readItems(files, result.items);
}

function stepHttp(client: HttpClient, signal: AbortSignal): StepHttp {
  return {
    async fetch({ url, method, headers, body }) {
      const sink = new BufferSink();
      const answer = await client.fetch(
        {
          url,
          signal,
          followRedirects: () => false,
          ...(method === undefined ? {} : { method }),
          ...(headers === undefined ? {} : { headers: { ...headers } }),
          ...(body === undefined ? {} : { body: typeof body === "string" ? body : Buffer.from(body) }),
        },
        sink,
      );
      const { status, url: answered, headers: answerHeaders } = answer;
      return { status, url: answered, headers: answerHeaders, body: new Uint8Array(sink.body()) };
    },
  };
}

export function scopeOf(run: StepRun, before: Before, payload: StepPayload) {
  const steps: Record<string, { output: JsonValue }> = {};
  for (const [name, output] of Object.entries(before.outputs)) steps[name] = { output };
  const { item } = payload;
  return { params: run.params, steps, ...(item === undefined ? {} : { item: item.value, index: item.index }) };
}
