/** The engine's side of a user's step: its input and its result. */
import { OrbError } from "../../../base/errors.ts";
import { FetchFailure } from "../../../domain/run/failure.ts";
import type { TaskArtifact } from "../../../domain/run/outcome.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { RecordCheck } from "../../../extract/schema.ts";
import type { StepFile } from "../../../workflows/define-step.ts";
import type { Item, StepContext, StepEnd } from "../../../workflows/step-kind.ts";
import type { HandlerProcess, WorkEnd } from "./process.ts";
import { type FetchOptions, PART_CHARS, type StepAbout, type StepDescription } from "./protocol.ts";
import type { HandlerServices } from "./services.ts";

export interface UserStep {
  description: StepDescription;
  /** Null: any object is accepted. */
  checkOutput: RecordCheck | null;
}

/** Each is a row in the transaction that settles the step. */
const MAX_FILES = 10_000;
/** A step that produces items endlessly must not fill the disk before its timeout. */
const MAX_ITEMS_CHARS = 2 * 1024 ** 3;
const MAX_MESSAGE_LENGTH = 500;

/** `over` resolves when the process is free again, which may be long after `end`, while items are read. It never rejects. */
export function executeStep(
  process: HandlerProcess,
  services: HandlerServices,
  { description, checkOutput }: UserStep,
  context: StepContext,
  params: Record<string, JsonValue>,
): { end: Promise<StepEnd>; over: Promise<void> } {
  const files: TaskArtifact[] = [];
  const output: Record<string, JsonValue> = {};
  const readings = new Readings(context);
  const stream = new ItemStream(process);
  const executed = process
    .execute({
      begin: { kind: "step", step: description.kind, about: aboutOf(context), params },
      timeoutSeconds: description.timeoutSeconds,
      signal: context.signal,
      log: context.log.with({ kind: description.kind }),
      serve: (name, args, wanted) => serve(name, args, services, context, wanted, files, readings),
      onMessage: (message) => {
        if (message.kind === "flows") return stream.begin();
        if (message.kind === "items") return stream.push(message.json);
        const { done, total, message: text } = message;
        if (Number.isFinite(done) && (total === null || Number.isFinite(total)))
          context.progress(done, total, ...(text === null ? [] : [String(text).slice(0, MAX_MESSAGE_LENGTH)]));
      },
    })
    .then((end) => {
      if (end.kind === "done") Object.assign(output, checked(end, checkOutput));
      return end;
    })
    .finally(() => readings.close());
  executed.then(
    () => stream.end(null),
    (error: Error) => stream.end(error),
  );
  const end = Promise.race([executed, stream.begun]).then((first): StepEnd => {
    if (first === undefined) return { kind: "done", output, items: stream.items(), files };
    return first.kind === "skip" ? { kind: "skip", why: first.why } : { kind: "done", output, files };
  });
  return {
    end,
    over: executed.then(
      () => {},
      () => {},
    ),
  };
}

function aboutOf({ run, step, item }: StepContext): StepAbout {
  return {
    run: { id: run.id, name: run.name, job_id: run.jobId },
    step: { name: step.name, index: step.index },
    attempt: step.attempt,
    item,
  };
}

function checked(end: Extract<WorkEnd, { kind: "done" }>, check: RecordCheck | null): Record<string, JsonValue> {
  const output = end.value as Record<string, JsonValue>;
  if (Object.hasOwn(output, "__proto__"))
    throw new FetchFailure("handler_bad_result", "the output has a key named __proto__");
  const [problem] = check?.(output) ?? [];
  if (problem === undefined) return output;
  const where = problem.path === "" ? "the output" : `the output's ${problem.path}`;
  throw new FetchFailure("handler_bad_result", `${where} ${problem.message}`);
}

async function serve(
  name: string,
  [subject, argument]: unknown[],
  services: HandlerServices,
  { files: store }: StepContext,
  wanted: AbortSignal,
  files: TaskArtifact[],
  readings: Readings,
): Promise<unknown> {
  const options = (argument ?? {}) as FetchOptions & { name?: string; content_type?: string };
  const keep = (file: TaskArtifact, fileName: string): StepFile => {
    wanted.throwIfAborted();
    files.push(file);
    return { hash: file.hash, bytes: file.size, content_type: file.contentType, name: fileName };
  };
  if ((name === "download" || name === "save") && files.length >= MAX_FILES)
    throw new OrbError(
      "handler_failed",
      `a step can store at most ${MAX_FILES} files; use for_each to divide the work`,
    );
  switch (name) {
    case "fetch":
      return services.fetch(String(subject), options, wanted);
    case "download": {
      const file = await services.download(String(subject), { headers: options.headers ?? {} }, wanted);
      store.adopt(file);
      return keep(file, options.name ?? nameOf(file.url));
    }
    case "save": {
      if (typeof subject !== "string" && !(subject instanceof Uint8Array))
        throw new OrbError("handler_failed", "context.save needs bytes or a string");
      const fileName = options.name ?? "file";
      const contentType =
        options.content_type ??
        (typeof subject === "string" ? "text/plain; charset=utf-8" : "application/octet-stream");
      return keep(await store.save([Buffer.from(subject as Uint8Array)], { name: fileName, contentType }), fileName);
    }
    case "locate": {
      const hash = String(subject);
      if (!/^[0-9a-f]{64}$/.test(hash) || !(await store.has(hash)))
        throw new OrbError("not_found", `there is no stored file with the hash ${hash.slice(0, 64)}`);
      return store.pathOf(hash);
    }
    case "items":
      return readings.next(Number(subject), typeof argument === "string" ? argument : null);
    case "leave":
      return readings.leave(Number(subject));
    default:
      throw new OrbError("handler_failed", `context.${name} is not available in a step`);
  }
}

/** The last path segment of a URL, or its host. */
function nameOf(url: string): string {
  return new URL(url).pathname.split("/").findLast((part) => part !== "") ?? new URL(url).hostname;
}

/** Open readings of the step's inputs; a step may read them several times and concurrently. */
class Readings {
  readonly #context: StepContext;
  /** Null: at its end, which the step does not know yet. */
  readonly #open = new Map<number, AsyncIterator<Item> | null>();

  constructor(context: StepContext) {
    this.#context = context;
  }

  async next(reading: number, step: string | null): Promise<string | null> {
    let source = this.#open.get(reading);
    if (source === undefined) {
      if (this.#open.size >= MAX_READINGS)
        throw new OrbError(
          "handler_failed",
          `a step can have at most ${MAX_READINGS} iterations over its items open at the same time`,
        );
      source = (step === null ? this.#context.inputs() : this.#context.itemsOf(step))[Symbol.asyncIterator]();
      this.#open.set(reading, source);
    }
    const part: string[] = [];
    for (let chars = 0; source !== null && chars < PART_CHARS;) {
      const { done, value } = await source.next();
      if (done === true) {
        source = null;
        this.#open.set(reading, null);
      } else {
        const text = JSON.stringify(value);
        part.push(text);
        chars += text.length;
      }
    }
    if (part.length > 0) return `[${part.join(",")}]`;
    this.#open.delete(reading);
    return null;
  }

  async leave(reading: number): Promise<null> {
    const source = this.#open.get(reading);
    this.#open.delete(reading);
    await source?.return?.();
    return null;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((reading) => this.leave(reading)));
  }
}

const MAX_READINGS = 8;

/** Streams the items of a step, one part per request. */
class ItemStream {
  readonly #process: HandlerProcess;
  readonly #beginning = Promise.withResolvers<undefined>();
  #changed = Promise.withResolvers<void>();
  #part: string | null = null;
  #over: { error: Error | null } | null = null;
  #chars = 0;

  constructor(process: HandlerProcess) {
    this.#process = process;
  }

  /** Resolves only if the step has items. */
  get begun(): Promise<undefined> {
    return this.#beginning.promise;
  }

  begin(): void {
    this.#beginning.resolve(undefined);
  }

  push(json: string): void {
    this.#part = json;
    this.#changed.resolve();
  }

  end(error: Error | null): void {
    this.#over = { error };
    this.#changed.resolve();
  }

  async *items(): AsyncGenerator<Item> {
    try {
      for (;;) {
        if (this.#over === null) this.#process.pull();
        else this.#changed.resolve();
        await this.#changed.promise;
        this.#changed = Promise.withResolvers<void>();
        if (this.#part === null) {
          if (this.#over?.error) throw this.#over.error;
          return;
        }
        const items = JSON.parse(this.#part) as Item[];
        this.#chars += this.#part.length;
        this.#part = null;
        if (this.#chars > MAX_ITEMS_CHARS)
          throw new FetchFailure("handler_bad_result", `it returned more than ${MAX_ITEMS_CHARS} characters of items`);
        yield* items;
      }
    } finally {
      // The rest is not wanted.
      if (this.#over === null) void this.#process.stop();
    }
  }
}
