/** Runs one workflow step, in the worker thread. */
import { readFile } from "node:fs/promises";
import { systemCode } from "../../../base/errors.ts";
import { isObject } from "../../../domain/text/input-reader.ts";
import { MOST_OUTPUT_BYTES } from "../../../domain/workflow/definition.ts";
import type { CustomStep, CustomStepContext } from "../../../workflows/define-step.ts";
import type { Item } from "../../../workflows/step-kind.ts";
import { badResult, type Channel, isSkip, toJson } from "./channel.ts";
import { PART_CHARS, type StepAbout, type StepCalls } from "./protocol.ts";

type Items = AsyncIterable<unknown> | Iterable<unknown>;

/** Progress is sent at most this often: it is displayed about once a second. */
const PROGRESS_EVERY_MS = 250;

export class StepExecution {
  readonly #channel: Channel;
  readonly #about: StepAbout;
  readonly #signal: AbortSignal;
  #readings = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #unreported: { done: number; total: number | null; message: string | null } | null = null;
  #pullRequested = Promise.withResolvers<void>();

  constructor(channel: Channel, about: StepAbout, signal: AbortSignal) {
    this.#channel = channel;
    this.#about = about;
    this.#signal = signal;
  }

  async run(kind: CustomStep, params: unknown): Promise<{ value: unknown } | { skip: string }> {
    const returned: unknown = await kind.run(this.#context(), params as never);
    if (isSkip(returned)) return returned;
    const { output, items } = endOf(returned);
    if (items !== null) await this.#sendItems(items);
    this.#reportProgress();
    // Serialised last: the output may count the items.
    return { value: JSON.parse(toJson("the output", plainObject(output), MOST_OUTPUT_BYTES)) };
  }

  /** The engine asks for the next part of the items. */
  pulled(): void {
    this.#pullRequested.resolve();
  }

  async #sendItems(items: Items): Promise<void> {
    this.#channel.send({ kind: "flows" });
    let part: string[] = [];
    let chars = 0;
    const send = async () => {
      await this.#pullRequested.promise;
      this.#pullRequested = Promise.withResolvers<void>();
      this.#channel.send({ kind: "items", json: `[${part.join(",")}]` });
      part = [];
      chars = 0;
    };
    for await (const item of items) {
      if (typeof item !== "object" || item === null || Array.isArray(item))
        throw badResult(`an item must be an object, not ${Array.isArray(item) ? "a list" : String(item)}`);
      const text = toJson("an item", item);
      part.push(text);
      chars += text.length;
      if (chars >= PART_CHARS) await send();
    }
    if (part.length > 0) await send();
  }

  #context(): CustomStepContext {
    const call = <Name extends keyof StepCalls>(name: Name, ...args: Parameters<StepCalls[Name]>) =>
      this.#channel.call(name, args) as Promise<ReturnType<StepCalls[Name]>>;
    return {
      ...this.#about,
      signal: this.#signal,
      log: this.#channel.log(),
      items: (step) => this.#readItems(step ?? null, call),
      fetch: (url, options = {}) => call("fetch", url, options),
      download: (url, options = {}) => call("download", url, options),
      save: (content, options = {}) => call("save", content, options),
      read: (hash) => readWithRetry(() => call("locate", hash)),
      progress: (done, total = null, message) => {
        this.#unreported = { done: Number(done), total, message: message ?? null };
        if (performance.now() - this.#reportedAt >= PROGRESS_EVERY_MS) this.#reportProgress();
      },
    };
  }

  async *#readItems(
    step: string | null,
    call: <Name extends "items" | "leave">(
      name: Name,
      ...args: Parameters<StepCalls[Name]>
    ) => Promise<ReturnType<StepCalls[Name]>>,
  ): AsyncGenerator<Item> {
    const reading = (this.#readings += 1);
    let over = false;
    try {
      for (;;) {
        const part = await call("items", reading, step);
        if (part === null) {
          over = true;
          return;
        }
        yield* JSON.parse(part) as Item[];
      }
    } finally {
      if (!over) await call("leave", reading);
    }
  }

  #reportProgress(): void {
    if (this.#unreported === null) return;
    this.#channel.send({ kind: "progress", ...this.#unreported });
    this.#unreported = null;
    this.#reportedAt = performance.now();
  }
}

/** An object with `output` and `items` only names both; any other object is the output. */
function endOf(returned: unknown): { output: unknown; items: Items | null } {
  if (typeof returned !== "object" || returned === null) return { output: returned, items: null };
  const { output, items, ...more } = returned as { output?: unknown; items?: unknown };
  const named = Object.keys(more).length === 0 && (isObject(output) || isIterable(items));
  if (!named) return { output: returned, items: null };
  if (items !== undefined && items !== null && !isIterable(items))
    throw badResult('the returned "items" must be a list or an iterable');
  return { output, items: items ?? null };
}

function plainObject(output: unknown): object {
  if (output === undefined || output === null) return {};
  if (!isObject(output))
    throw badResult(`a step returns an object, not ${Array.isArray(output) ? "a list" : typeof output}`);
  return output;
}

function isIterable(value: unknown): value is Items {
  return typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);
}

/** A file may move to the archive tier before it is opened; a missing file cannot be located, which ends the retry. */
async function readWithRetry(locate: () => Promise<string>): Promise<Uint8Array> {
  for (;;) {
    const path = await locate();
    try {
      return await readFile(path);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }
}
