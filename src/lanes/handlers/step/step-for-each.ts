import { createHash } from "node:crypto";
import { Turns, yieldToEventLoop } from "../../../base/process/event-loop.ts";
import { FetchFailure } from "../../../domain/run/failure.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import { MOST_ITEMS, type StepPayload, type StepResult } from "../../../domain/workflow/definition.ts";
import { compileTemplate, resolveList } from "../../../domain/workflow/expression.ts";
import { plainEntry, sealEntry, secretsIn } from "../../../domain/workflow/sealed-entries.ts";
import { itemsSource } from "../../../domain/workflow/expression-names.ts";
import type { ClaimedTask, LaneHold, TaskRecord } from "../../../store/ports/port.ts";
import { readItems } from "../../../workflows/items/items-file.ts";
import type { Item, StepFiles } from "../../../workflows/step-kind.ts";
import { Requeue } from "../handler.ts";
import { itemsOf, scopeOf, type StepTry } from "./step-context.ts";
import type { Ended } from "./step-ends.ts";
import type { StepDeps } from "./step-deps.ts";
import type { Before, StepRun } from "./step-runs.ts";

export interface ListWork {
  task: ClaimedTask;
  hold: LaneHold;
  run: StepRun;
  before: Before;
  payload: StepPayload;
  files: StepFiles;
  signal: AbortSignal;
}

/** A transaction or page of this size takes some milliseconds: other work runs in between. */
const BATCH_SIZE = 200;
const BATCH_BYTES = 512 * 1024;
/** Entries between two checks of the clock. */
const ENTRIES_PER_CHECK = 50;
/** Each entry is stored as a task. */
const MAX_ENTRY_BYTES = 64 * 1024;

/** Adds the entries of a list to its step in batches, and lets the step sleep until they have ended. */
export async function expandList(deps: StepDeps, work: ListWork): Promise<Ended> {
  const { run, payload, signal } = work;
  const { concurrency, on_error: onError } = run.step(payload.step).for_each!;
  const turns = new Turns();
  const list = listOf(work);
  await turns.after();
  const secrets = secretsIn(run.definition.params, run.params);
  await turns.after();
  const toStore = (value: JsonValue) => sealEntry(deps.seal, value, secrets);
  const { total, hash } = await measure(list(), signal, (value) => {
    const text = JSON.stringify(value);
    // The stored digest must not help to guess a secret.
    return JSON.stringify(toStore(value)) === text ? text : deps.seal.mark(text);
  });
  let first = 0;
  for await (const values of inBatches(list())) {
    signal.throwIfAborted();
    await addBatch(deps, work, { listHash: hash, first, values: values.map(toStore) });
    first += values.length;
    await yieldToEventLoop();
  }
  if (total > 0) return { kind: "wait", memory: null, items: { concurrency, stopAtFailure: onError === "stop" } };
  // Replaces the entries of an earlier generation's list.
  await addBatch(deps, work, { listHash: hash, first: 0, values: [] });
  return { kind: "done", output: { total: 0, completed: 0, failed: 0, skipped: 0 }, items: [] };
}

function listOf({ run, before, payload, files }: ListWork): () => AsyncIterable<JsonValue> | Iterable<JsonValue> {
  const from = run.openedControl(payload.step).for_each!.in;
  // The items of an earlier step may be many: they are streamed.
  const name = typeof from === "string" ? itemsSource(compileTemplate(from)) : null;
  if (name !== null) return () => itemsOf(files, run, before, name) as AsyncIterable<JsonValue>;
  const list = resolveList(from, scopeOf(run, before, payload));
  return () => list;
}

/** The length of the list, and a digest that identifies it. */
async function measure(
  list: AsyncIterable<JsonValue> | Iterable<JsonValue>,
  signal: AbortSignal,
  markOf: (value: JsonValue) => string,
): Promise<{ total: number; hash: string }> {
  const digest = createHash("sha256");
  const turns = new Turns();
  let total = 0;
  for await (const value of list) {
    signal.throwIfAborted();
    total += 1;
    if (total > MOST_ITEMS) throw new FetchFailure("step_params", `for_each.in: has more than ${MOST_ITEMS} entries`);
    const text = JSON.stringify(value);
    if (Buffer.byteLength(text) > MAX_ENTRY_BYTES)
      throw new FetchFailure(
        "step_params",
        `for_each.in[${total - 1}]: has more than ${MAX_ENTRY_BYTES} bytes as JSON`,
      );
    digest.update(markOf(value)).update("\n");
    await turns.after(ENTRIES_PER_CHECK);
  }
  return { total, hash: digest.digest("hex") };
}

async function* inBatches(list: AsyncIterable<JsonValue> | Iterable<JsonValue>): AsyncGenerator<JsonValue[]> {
  let part: JsonValue[] = [];
  let bytes = 0;
  for await (const value of list) {
    part.push(value);
    bytes += Buffer.byteLength(JSON.stringify(value));
    if (part.length < BATCH_SIZE && bytes < BATCH_BYTES) continue;
    yield part;
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield part;
}

async function addBatch(
  { store, clock }: StepDeps,
  { hold, task }: ListWork,
  part: { listHash: string; first: number; values: readonly JsonValue[] },
): Promise<void> {
  if ((await store.addStepItems(hold, task, part, clock.now())) === null)
    throw new Requeue("the step has another owner");
}

/** All entries have ended: combines their outputs and derives the outcome of the step. */
export async function gatherEntries(
  deps: StepDeps,
  attempt: StepTry,
  { hold, files, signal }: Pick<ListWork, "hold" | "files" | "signal">,
): Promise<Ended> {
  const { run, payload, task } = attempt;
  const { on_error: onError } = run.step(payload.step).for_each!;
  for (let skipped = 1; skipped > 0;) {
    signal.throwIfAborted();
    const ended = await deps.store.skipStepItems(hold, task, BATCH_SIZE, "an earlier entry failed", deps.clock.now());
    if (ended === null) throw new Requeue("the step has another owner");
    skipped = ended;
    await yieldToEventLoop();
  }
  const [step] = await deps.store.steps(run.id, [payload.step]);
  const { total, completed, failed } = step!.items!;
  const output = { total, completed, failed, skipped: total - completed - failed };
  if (failed > 0 && (onError !== "continue" || failed === total)) {
    const [first] = await deps.store.stepItems(run.id, payload.step, { states: ["failed"], limit: 1 });
    const why = first === undefined ? "" : `entry ${indexOf(first)}: ${first.failure?.message ?? "failed"}`;
    throw new FetchFailure("step_entries_failed", `${failed} of ${total} entries failed; ${why}`);
  }
  const entries = () => entriesOf(deps, run.id, payload.step, signal);
  const items = (await anyHasItems(entries())) ? itemsOfEntries(files, entries()) : entryItems(entries());
  return { kind: "done", output, items };
}

async function anyHasItems(entries: AsyncIterable<TaskRecord>): Promise<boolean> {
  for await (const entry of entries) if ((resultOf(entry)?.items ?? null) !== null) return true;
  return false;
}

/** Each entry may have as much output as a step: they are read in batches, and other work runs in between. */
async function* entriesOf(
  { store, clock }: StepDeps,
  runId: string,
  step: number,
  signal: AbortSignal,
): AsyncGenerator<TaskRecord> {
  for (let after: string | undefined; ;) {
    signal.throwIfAborted();
    const page = await store.stepItems(runId, step, {
      limit: BATCH_SIZE,
      mostBytes: BATCH_BYTES,
      ...(after === undefined ? {} : { after }),
    });
    if (page.length === 0) return;
    yield* page;
    after = page.at(-1)?.id;
    await new Promise<void>((resolve) => clock.after(0, resolve, { keepAlive: true }));
  }
}

function indexOf(entry: TaskRecord): number {
  return (entry.payload as StepPayload).item?.index ?? 0;
}

function resultOf(entry: TaskRecord): StepResult | null {
  return entry.state === "completed" ? (entry.detail as StepResult) : null;
}

/** The outputs of the entries, in the order of the list. */
async function* itemsOfEntries(files: StepFiles, entries: AsyncIterable<TaskRecord>): AsyncGenerator<Item> {
  for await (const entry of entries) {
    const items = resultOf(entry)?.items ?? null;
    if (items !== null) yield* readItems(files, items);
  }
}

/** One item for each entry: its input and its outcome. */
async function* entryItems(entries: AsyncIterable<TaskRecord>): AsyncGenerator<Item> {
  for await (const entry of entries) {
    const { index, value: stored } = (entry.payload as StepPayload).item!;
    const value = plainEntry(stored);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    yield {
      ...(isObject ? value : { item: value }),
      index,
      status: entry.state,
      output: { ...resultOf(entry)?.output },
      error: entry.failure?.message ?? null,
    };
  }
}
